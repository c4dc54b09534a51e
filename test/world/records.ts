// The record store of a world: PGlite in this process. A migrated database is made once for a run; every world begins with a copy.
import { readFile } from 'node:fs/promises';
import { PGlite, protocol } from '@electric-sql/pglite';
import pLimit from 'p-limit';
import { messageOf } from '../../src/platform/errors.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import { epochMs, namedRows, TIMESTAMPTZ_OID } from '../../src/store/sql/client/rows.ts';
import {
  inTransaction,
  type PreparedSql,
  type SqlClient,
  type SqlTransaction,
  type SqlValue,
} from '../../src/store/sql/client/sql-client.ts';
import { translateSqlError } from '../../src/store/sql/client/sql-errors.ts';
import { sqlRecordStore } from '../../src/store/sql/sql-record-store.ts';
import type { VirtualTime } from './virtual/time.ts';

const parsers = { [TIMESTAMPTZ_OID]: epochMs };

export interface WorldRecords {
  readonly records: RecordStore;
  /** For what the world itself asks. */
  sql<Row>(text: string): Promise<Row[]>;
  /** The whole database as it is now. */
  copy(): Promise<Blob>;
  close(): Promise<void>;
}

/** Real time passes in it, so it is opened before a world begins, or outside of it. */
export async function openRecords(from: Blob, time: VirtualTime, identity: string): Promise<WorldRecords> {
  const db = await PGlite.create({ dataDir: 'memory://', loadDataDir: from, parsers });
  const client = clientOf(db, time);
  return {
    records: { ...sqlRecordStore('embedded', client), identity: async () => identity },
    sql: (text) => client.query(text),
    copy: async () => (await db.dumpDataDir('none')) as Blob,
    close: () => client.close(),
  };
}

/** Before any world: it takes real time. @param root of the repository */
export async function makeDatabase(root: string): Promise<Blob> {
  const empty = new Blob([await readFile(`${root}dist/pglite.tar.gz`)], { type: 'application/x-gzip' });
  const db = await PGlite.create({ dataDir: 'memory://', loadDataDir: empty, parsers });
  await sqlRecordStore('embedded', clientOf(db, null)).migrations.up();
  const blob = await db.dumpDataDir('none');
  await db.close();
  return blob as Blob;
}

function clientOf(db: PGlite, time: VirtualTime | null): SqlClient {
  const alone = pLimit(1);
  const prepared = new PreparedStatements(db);
  /** The world's clock stands while a query runs. */
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    if (time !== null) time.inFlight += 1;
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      throw translateSqlError(Object.assign(new Error(messageOf(error)), { code }), 'the database');
    } finally {
      if (time !== null) time.inFlight -= 1;
      time?.active('query');
    }
  };
  const runner: SqlTransaction = {
    query: (sql, params = []) =>
      counted(async () => {
        if (typeof sql !== 'string') return prepared.run(sql, params) as never;
        const { fields, rows } = await db.query<unknown[]>(sql, [...params], { rowMode: 'array' });
        return namedRows(fields, rows) as never;
      }),
    script: (sql) => counted(async () => void (await db.exec(sql))),
  };
  return {
    query: (sql, params) => alone(() => runner.query(sql, params)),
    transaction: (work) => alone(() => inTransaction(runner, work)),
    close: () => alone(() => db.close()),
  };
}

interface Statement {
  readonly parameters: readonly number[];
  readonly fields: ReadonlyArray<{ readonly name: string; readonly dataTypeID: number }>;
}

/** Statements that are parsed and planned once, as over a connection to a server; PGlite's own `query` does both each time. */
class PreparedStatements {
  readonly #known = new Map<string, Statement>();

  constructor(private readonly db: PGlite) {}

  run({ name, text }: PreparedSql, params: readonly SqlValue[]): unknown[] {
    const { serialize } = protocol;
    const statement = this.#known.get(name) ?? this.#prepare(name, text);
    const values = params.map((value, i) => this.#encode(value, statement.parameters[i] ?? 0));
    const answers = this.#send(
      serialize.bind({ statement: name, values }),
      serialize.execute({}),
      serialize.sync(),
    );
    const rows = answers.flatMap((answer) => (answer.name === 'dataRow' ? [(answer as DataRow).fields] : []));
    const decoders = statement.fields.map(({ dataTypeID }) => this.db.parsers[dataTypeID]);
    const decoded = rows.map((row) =>
      row.map((value, i) =>
        value === null ? null : (decoders[i]?.(value, statement.fields[i]?.dataTypeID) ?? value),
      ),
    );
    return namedRows(statement.fields, decoded);
  }

  #prepare(name: string, text: string): Statement {
    const { serialize } = protocol;
    const answers = this.#send(
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    );
    const of = (kind: string) =>
      answers.find((answer) => answer.name === kind) as Record<string, unknown> | undefined;
    const statement = {
      parameters: (of('parameterDescription')?.dataTypeIDs ?? []) as number[],
      fields: (of('rowDescription')?.fields ?? []) as Statement['fields'],
    };
    this.#known.set(name, statement);
    return statement;
  }

  #encode(value: SqlValue, oid: number): string | null {
    if (value === null) return null;
    return this.db.serializers[oid]?.(value) ?? String(value);
  }

  #send(...messages: Uint8Array[]) {
    const answers: Array<{ readonly name: string }> = [];
    const bytes = this.db.execProtocolRawSync(Buffer.concat(messages));
    new protocol.Parser().parse(bytes, (message) => answers.push(message));
    const error = answers.find(({ name }) => name === 'error');
    if (error !== undefined) throw error;
    return answers;
  }
}

interface DataRow {
  readonly name: 'dataRow';
  readonly fields: readonly (string | null)[];
}

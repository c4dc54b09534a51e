// The record store on a PostgreSQL server (14 or later), and the SqlClient on pg's connection pool that it uses. Opened by
// wiring; migrator.ts creates the tables.
//
// Every wait is bounded: for a connection, for a lock, for a statement, and for any answer at all, in case the server is frozen
// and enforces nothing. The pool recovers after an outage: broken connections are closed and the next query opens a new one.
// After a failover the address may lead to another server: connections to a server without writes are refused, and closed when it
// stops accepting them.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { hostAndPort } from '../../platform/addresses.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { RecordStore } from '../ports/records/record-store.ts';
import type { DatabaseUser } from '../sql/client/missing-right.ts';
import { epochMs, namedRows, TIMESTAMPTZ_OID } from '../sql/client/rows.ts';
import {
  inTransaction,
  type PreparedSql,
  type SqlClient,
  type SqlTransaction,
  type SqlValue,
} from '../sql/client/sql-client.ts';
import {
  endsConnection,
  readOnlyError,
  transactionPooling,
  translateSqlError,
} from '../sql/client/sql-errors.ts';
import { statements } from '../sql/client/statements.ts';
import { limitStatements } from '../sql/client/transaction-bounds.ts';
import { boundedClient, sqlRecordStore } from '../sql/sql-record-store.ts';
import file from './record-store.sql';

const sql = statements(file);

interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly applicationName: string;
  /** Absent: the number for a command; a daemon has a setting. */
  readonly maxConnections?: number;
  /** Only reads are sent, so a server without writes is accepted. */
  readonly readsOnly?: boolean;
  /** For tests. */
  readonly answerTimeoutMs?: number;
}

const COMMAND_CONNECTIONS = 8;
/** Connections that cards, results and stops do not use. */
const KEPT_CONNECTIONS = 2;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 40_000;
/** Practically unlimited: the longest time of a timer. TCP's keep-alive notices a server that is gone. */
const LONG_ANSWER_TIMEOUT_MS = 2 ** 31 - 1;
const IDLE_CONNECTION_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2_000;

const LEADS_NOWHERE = new Set(['postgres_unreachable', 'postgres_read_only']);

const INT8_OID = 20;
const NUMERIC_OID = 1700;

const PARSERS = new Map<number, (text: string) => number>([
  [INT8_OID, Number],
  [NUMERIC_OID, Number],
  [TIMESTAMPTZ_OID, epochMs],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format as 'text'),
};

/**
 * Connects lazily: an unreachable server shows in the first call (`ping` for instance), and a store opened during an outage works
 * once the server is back. Throws `config` for a URL that cannot be read.
 */
export async function openPostgresRecordStore(options: PostgresOptions): Promise<RecordStore> {
  const client = new PostgresClient(options);
  const max = options.maxConnections ?? COMMAND_CONNECTIONS;
  // Two at least: one may be busy with a long statement.
  return sqlRecordStore('postgres', boundedClient(client, Math.max(2, max - KEPT_CONNECTIONS)), client);
}

/** The server and the user, as errors name them. */
interface Server {
  readonly where: string;
  readonly user: DatabaseUser;
}

export class PostgresClient implements SqlClient {
  readonly #pool: pg.Pool;
  readonly #server: Server;
  readonly #connected = new Set<pg.PoolClient>();
  /** The server process that first served each connection. */
  readonly #backends = new WeakMap<pg.ClientBase, number>();
  /** Started with the first use, and again after a failure. */
  #owning: Promise<void> | null = null;
  #cut: NodeJS.Timeout | undefined;
  /** Connections opened since one was last found to be useless; the others are closed at their next use. */
  #trusted = new WeakSet<pg.PoolClient>();

  constructor(options: PostgresOptions) {
    this.#server = describe(options.url);
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.applicationName,
      max: options.maxConnections ?? COMMAND_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      query_timeout: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
      keepAlive: true,
      types,
      onConnect: async (client) => {
        const values = [STATEMENT_TIMEOUT_MS, LOCK_TIMEOUT_MS, IDLE_IN_TRANSACTION_TIMEOUT_MS];
        const first = { text: sql.text('begin'), values, query_timeout: CONNECT_TIMEOUT_MS };
        const { rows } = await client.query<{ read_only: boolean; pid: number }>(first);
        if (rows[0]?.read_only === true && options.readsOnly !== true)
          throw readOnlyError(this.#server.where);
        this.#backends.set(client, rows[0]?.pid ?? 0);
      },
    });
    // A connection that breaks emits an error here as well as to its query, if any; without a listener that would end the
    // process. The pool drops the connection, and the next query shows the state of the server.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => {
      client.on('error', () => {});
      this.#connected.add(client);
      this.#trusted.add(client);
    });
    this.#pool.on('remove', (client) => {
      this.#connected.delete(client);
      if (this.#connected.size === 0) clearTimeout(this.#cut);
    });
  }

  query<Row>(sql: string | PreparedSql, params: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#withConnection((runner) => runner.query<Row>(sql, params));
  }

  copyIn(sql: string, data: string): Promise<void> {
    return this.#withConnection((runner) => runner.copyIn(sql, data));
  }

  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.#withConnection((runner) => inTransaction(runner, work));
  }

  /** A server that does not answer cannot keep the process alive: its connections are cut after a while. */
  async close(): Promise<void> {
    if (this.#pool.ending) return;
    if (this.#connected.size > 0) {
      this.#cut = setTimeout(() => {
        for (const client of this.#connected) client.connection.stream.destroy();
      }, CLOSE_TIMEOUT_MS);
    }
    await this.#pool.end();
  }

  async #withConnection<T>(use: (runner: ConnectionRunner) => Promise<T>): Promise<T> {
    this.#owning ??= this.#requireOwnConnections();
    await this.#owning;
    const client = await this.#connect();
    let reusable = false;
    try {
      const result = await use(new ConnectionRunner(client, this.#server));
      reusable = true;
      return result;
    } catch (error) {
      reusable = isStatementError(error);
      // The other connections lead to the same server: gone, silent, or read-only.
      if (leadsNowhere(error)) this.#trusted = new WeakSet();
      throw error;
    } finally {
      client.release(!reusable);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await translated(this.#pool.connect(), this.#server);
      if (this.#trusted.has(client)) return client;
      client.release(true);
    }
  }

  /**
   * Refuses a pooler in transaction mode. Time limits and prepared statements belong to a connection, but such a pooler lends the
   * server's connections to each transaction in turn. It shows when one server process serves two of our connections, or two
   * serve one of them, since a pooler may take the last used one, a new one, or each in turn.
   */
  async #requireOwnConnections(): Promise<void> {
    const two = [1, 2].slice(0, this.#pool.options.max);
    const asked = await Promise.allSettled(two.map(() => this.#connect()));
    const clients = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    try {
      const backends = new Set(clients.map((client) => this.#backends.get(client)));
      if (backends.size < clients.length) throw transactionPooling(this.#server.where);
      for (const client of clients.flatMap((one) => [one, one])) {
        const { rows } = await translated(client.query<{ pid: number }>(sql.text('backend')), this.#server);
        if (rows[0]?.pid !== this.#backends.get(client)) throw transactionPooling(this.#server.where);
      }
    } catch (error) {
      this.#owning = null;
      throw error;
    } finally {
      for (const client of clients) client.release();
    }
    if (clients.length === 0) this.#owning = null;
  }
}

function leadsNowhere(error: unknown): boolean {
  return error instanceof CardpollError && LEADS_NOWHERE.has(error.code);
}

/** The server refused a statement and the connection is fine; any other error makes it suspect. */
function isStatementError(error: unknown): boolean {
  const origin = error instanceof CardpollError ? error.cause : error;
  return origin instanceof pg.DatabaseError && origin.severity === 'ERROR' && !endsConnection(origin);
}

/** Translates errors of the database; other errors, thrown while a connection is held, pass unchanged. */
async function translated<T>(answer: Promise<T>, { where, user }: Server): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw translateSqlError(error, where, user);
  }
}

class ConnectionRunner implements SqlTransaction {
  constructor(
    private readonly client: pg.PoolClient,
    private readonly server: Server,
  ) {}

  async query<Row>(sql: string | PreparedSql, params: readonly SqlValue[] = []): Promise<Row[]> {
    const { answerTimeoutMs, ...statement } = typeof sql === 'string' ? { text: sql } : sql;
    const query = {
      ...statement,
      values: [...params],
      query_timeout: answerTimeoutMs,
      rowMode: 'array' as const,
    };
    const { fields, rows } = await translated(this.client.query(query), this.server);
    return namedRows(fields, rows) as Row[];
  }

  async script(text: string): Promise<void> {
    await limitStatements(this, 0);
    // pg also reads this field, which its types lack.
    const unlimited: pg.QueryConfig & { query_timeout: number } = {
      text,
      query_timeout: LONG_ANSWER_TIMEOUT_MS,
    };
    await translated(this.client.query(unlimited), this.server);
  }

  async copyIn(sql: string, data: string): Promise<void> {
    const written = pipeline(Readable.from([Buffer.from(data)]), this.client.query(copyFrom(sql)));
    await translated(written, this.server);
  }
}

/** The values that pg reads from the URL, or its defaults; never the password. */
function describe(url: string): Server {
  try {
    const { host, port, user = '', database = '' } = new pg.Client({ connectionString: url });
    const where = host.startsWith('/') ? `PostgreSQL at ${host}` : `PostgreSQL at ${hostAndPort(host, port)}`;
    return { where, user: { role: user, database } };
  } catch (error) {
    throw new CardpollError(
      'config',
      'bad_database_url',
      `the database URL cannot be read: ${messageOf(error)}`,
      { hint: 'It looks like postgres://user:password@host:5432/database' },
    );
  }
}

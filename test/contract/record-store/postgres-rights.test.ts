// A database user that lacks a right is told the statement that grants it: on a real PostgreSQL the tests run the statement of the
// hint, and the same work then succeeds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CardpollError } from '../../../src/platform/errors.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { translateSqlError } from '../../../src/store/sql/client/sql-errors.ts';
import { cliHere } from '../../support/cli-here.ts';
import { emptyDatabase, freshDatabase } from '../../support/fresh-stores.ts';
import { query } from '../../support/postgres-server.ts';

const ALL_RIGHTS = `
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO %;
  GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO %`;
const CARD = {
  ...{ cardId: 1, iccid: '89860000000000000001', carrierId: 1, status: 1, allowanceMb: null },
  ...{ vendorId: null, realNameVerified: null },
};
const MONTH = '2026-11';
const ENTRY = {
  ...{ atMs: Date.UTC(2026, 10, 1), name: 'ann', role: 'admin', address: null, requestId: null },
  ...{ action: 'pause', object: 'all', before: null, after: null },
};
const opened: RecordStore[] = [];
let roles = 0;
let migrated: string;

beforeAll(async () => {
  migrated = await freshDatabase();
  await (await open(migrated)).results.ensurePartitions(MONTH);
});
afterAll(async () => {
  for (const store of opened) await store.close();
});

/** A role that may log in and what `rights` grants it; % is its name. @returns its URL of the database. */
async function newRole(database: string, rights: string): Promise<string> {
  const role = `rights-${process.pid}-${roles}`;
  await query(migrated, `CREATE ROLE "${role}" LOGIN`);
  roles += 1;
  // As it is from PostgreSQL 15 on: 14 lets every role create tables there.
  await query(database, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  if (rights !== '') await query(database, rights.replaceAll('%', `"${role}"`));
  const url = new URL(database);
  url.username = role;
  return url.href;
}

async function open(url: string): Promise<RecordStore> {
  const store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  opened.push(store);
  return store;
}

/** Runs what the hint says as a superuser; psql's \\gexec runs what the statement returns. */
async function obey(database: string, hint: string): Promise<void> {
  const statement = hint.split(/(?:run|superuser): /)[1] ?? '';
  const [text = '', isGenerated] = statement.split(/;$| (?=\\gexec$)/);
  const rows = await query<Record<string, string>>(database, text);
  if (isGenerated === '\\gexec') for (const row of rows) await query(database, Object.values(row).join());
}

/** Does the work, and after each refusal what the hint says. @returns the hints, in order. */
async function hintsUntilDone(database: string, work: () => Promise<unknown>): Promise<string[]> {
  const hints: string[] = [];
  for (;;) {
    try {
      await work();
      return hints;
    } catch (error) {
      if (!(error instanceof CardpollError)) throw error;
      expect(error).toMatchObject({ kind: 'config', code: 'postgres_rights_missing' });
      const { hint = '' } = error;
      expect(hints, `${error.message}: the hint did not help`).not.toContain(hint);
      hints.push(hint);
      await obey(database, hint);
    }
  }
}

type Row = [
  what: string,
  rights: string,
  work: (store: RecordStore) => Promise<unknown>,
  hints: readonly unknown[],
];

const importCard = (store: RecordStore) => store.cards.importChunk([CARD]);

describe('the hint of a missing right grants it:', () => {
  it.each<Row>([
    [
      'SELECT on a table',
      '',
      (store) => store.cards.page(0, 1),
      [expect.stringMatching(/^The role lacks a right on the table cards\. .* TO "rights-/)],
    ],
    [
      'INSERT on a table',
      `${ALL_RIGHTS}; REVOKE INSERT ON cards FROM %`,
      importCard,
      [expect.stringContaining('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO')],
    ],
    [
      'USAGE on a sequence',
      `${ALL_RIGHTS}; REVOKE USAGE, SELECT ON SEQUENCE audit_id FROM %`,
      (store) => store.audit.append(MONTH, [ENTRY]),
      [expect.stringContaining('GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO')],
    ],
    [
      'CREATE on the schema, and ownership of the tables with partitions',
      ALL_RIGHTS,
      (store) => store.results.ensurePartitions('2031-01'),
      [
        expect.stringContaining('GRANT CREATE, USAGE ON SCHEMA "public" TO "rights-'),
        expect.stringMatching(/must own the tables.*\\gexec$/),
      ],
    ],
    [
      'EXECUTE on a function',
      `${ALL_RIGHTS}; REVOKE EXECUTE ON FUNCTION alert_is_silenced FROM PUBLIC`,
      (store) => store.alerts.firing(),
      [expect.stringContaining('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO')],
    ],
  ])('%s', async (_, rights, work, hints) => {
    const store = await open(await newRole(migrated, rights));
    expect(await hintsUntilDone(migrated, () => work(store))).toEqual(hints);
  });

  it.each<Row>([
    [
      'USAGE on the schema, for migrations',
      'REVOKE ALL ON SCHEMA public FROM PUBLIC',
      (store) => store.migrations.up(),
      [
        expect.stringMatching(
          /^The role lacks USAGE on the schema\. .* GRANT CREATE, USAGE ON SCHEMA public TO/,
        ),
      ],
    ],
    [
      'CREATE on the schema, for migrations',
      'GRANT USAGE ON SCHEMA public TO %',
      (store) => store.migrations.up(),
      [expect.stringContaining('lacks CREATE or USAGE on the schema public')],
    ],
    [
      'CONNECT to the database',
      'REVOKE ALL ON DATABASE # FROM PUBLIC',
      (store) => store.ping(),
      [expect.stringMatching(/GRANT CONNECT ON DATABASE "test_\w+" TO/)],
    ],
    [
      'TEMPORARY on the database, for an import',
      'REVOKE ALL ON DATABASE # FROM PUBLIC; GRANT CONNECT ON DATABASE # TO %; GRANT ALL ON SCHEMA public TO %',
      (store) => store.migrations.up().then(() => importCard(store)),
      [expect.stringMatching(/GRANT TEMPORARY ON DATABASE "test_\w+" TO/)],
    ],
  ])('%s', async (_, rights, work, hints) => {
    const database = await emptyDatabase();
    const name = new URL(database).pathname.slice(1);
    const store = await open(await newRole(database, rights.replaceAll('#', name)));
    expect(await hintsUntilDone(database, () => work(store))).toEqual(hints);
  });
});

describe('the rights that a user lacks are known before it needs them:', () => {
  let own: string;
  beforeAll(async () => {
    own = await freshDatabase();
  });
  const DAILY = `${ALL_RIGHTS}; GRANT CREATE ON SCHEMA public TO %`;

  it.each([
    ['none of the owner', null, [], []],
    [
      'all',
      '',
      ['permission denied for table', 'permission denied for sequence'],
      ['permission denied for schema public', 'must be owner of table'],
    ],
    [
      'DELETE on one table, for one',
      `${DAILY}; REVOKE DELETE ON card_stops FROM %`,
      ['permission denied for table card_stops'],
      ['must be owner of table audit'],
    ],
    [
      'USAGE on a sequence, which is of no identity column',
      `${DAILY}; REVOKE USAGE ON SEQUENCE audit_id FROM %`,
      ['permission denied for sequence audit_id'],
      ['must be owner of table audit'],
    ],
    [
      'partitions only',
      ALL_RIGHTS,
      [],
      ['permission denied for schema public', 'must be owner of table audit'],
    ],
  ])('%s', async (_, rights, always, monthly) => {
    const store = await open(rights === null ? own : await newRole(own, rights));
    const lacked = await store.lackedRights();
    expect(lacked.always.map(({ message }) => message)).toEqual(
      always.map((one) => expect.stringContaining(one)),
    );
    expect(lacked.monthly.map(({ message }) => message)).toEqual(
      monthly.map((one) => expect.stringContaining(one)),
    );
  });

  it('what the remedies grant is not lacked any more', async () => {
    const store = await open(await newRole(own, ''));
    const { always, monthly } = await store.lackedRights();
    for (const { remedy } of [...always, ...monthly]) await obey(own, remedy);
    const left = await store.lackedRights();
    for (const { remedy } of [...left.always, ...left.monthly]) await obey(own, remedy);
    expect(await store.lackedRights()).toEqual({ role: '', always: [], monthly: [] });
  });

  it('an advisory lock, temporary tables, and none before there are tables', async () => {
    const database = await emptyDatabase();
    const name = new URL(database).pathname.slice(1);
    const store = await open(await newRole(database, 'GRANT ALL ON SCHEMA public TO %'));
    expect(await store.lackedRights()).toEqual({ role: '', always: [], monthly: [] });
    await store.migrations.up();
    await query(database, `REVOKE ALL ON DATABASE "${name}" FROM PUBLIC`);
    await query(database, 'REVOKE EXECUTE ON FUNCTION pg_advisory_xact_lock(bigint) FROM PUBLIC');
    expect((await store.lackedRights()).always.map(({ message }) => message)).toEqual([
      'permission denied for function pg_advisory_xact_lock',
      `permission denied to create temporary tables in database "${name}"`,
    ]);
  });
});

it.each([
  ['TABLE', 'CREATE TABLE # (id int)'],
  ['INDEX', 'CREATE TABLE t (id int); CREATE INDEX # ON t (id); ALTER TABLE t OWNER TO %'],
  ['SEQUENCE', 'CREATE SEQUENCE #'],
  ['VIEW', 'CREATE VIEW # AS SELECT 1'],
  ['MATERIALIZED VIEW', 'CREATE MATERIALIZED VIEW # AS SELECT 1'],
])('the hint of a missing ownership grants it: %s', async (kind, made) => {
  const database = await emptyDatabase();
  const [owner, url] = [await newRole(database, ''), await newRole(database, '')];
  const name = `"Old 'cards'"`;
  const own = kind === 'INDEX' ? '' : `; ALTER ${kind} # OWNER TO %`;
  const text = `${made}${own}`.replaceAll('#', name).replaceAll('%', `"${new URL(owner).username}"`);
  await query(database, text);
  const drop = () =>
    query(url, `DROP ${kind} ${name}`).catch((error) => {
      throw translateSqlError(error, 'x', { role: new URL(url).username, database: 'x' });
    });
  expect(await hintsUntilDone(database, drop)).toEqual([expect.stringContaining('must own the tables')]);
});

it('a policy that refuses a row is named, and what lets the role write it', async () => {
  const database = await freshDatabase();
  const store = await open(await newRole(database, ALL_RIGHTS));
  await query(database, 'ALTER TABLE cards ENABLE ROW LEVEL SECURITY');
  expect(await hintsUntilDone(database, () => importCard(store))).toEqual([
    expect.stringMatching(/^A row-level security policy refuses it, .* ALTER ROLE "rights-/),
  ]);
});

it('a command whose database user lacks a right ends with 78, and names the right', async () => {
  const url = await newRole(await emptyDatabase(), '');
  const { code, stderr } = await cliHere(['migrate', 'up', '--database-url', url]);
  expect({ code, stderr }).toEqual({
    code: 78,
    stderr: expect.stringMatching(/GRANT CREATE, USAGE ON SCHEMA "?public"? TO/),
  });
});

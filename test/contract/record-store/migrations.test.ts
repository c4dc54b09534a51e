// Migrations: once each, in order, by one migrator at a time, and never over a changed file.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { openPglite } from '../../../src/store/pglite/client.ts';
import { openPostgresRecordStore, PostgresClient } from '../../../src/store/postgres/record-store.ts';
import type { SqlClient } from '../../../src/store/sql/client/sql-client.ts';
import { MIGRATIONS, sqlMigrations } from '../../../src/store/sql/migrator.ts';
import { firstRows } from '../../support/effort.ts';
import { emptyDatabase } from '../../support/fresh-stores.ts';
import { query } from '../../support/postgres-server.ts';
import { WORKER_URL } from './stores.ts';

const ALL = MIGRATIONS.map(({ id }) => id);
const postgresClient = async (): Promise<SqlClient> =>
  new PostgresClient({ url: await emptyDatabase(), applicationName: 'cardpoll', maxConnections: 4 });
const embeddedClient = (): Promise<SqlClient> => openPglite(WORKER_URL, ':memory:');

/** That they apply to PGlite, all suites show that run on it. */
describe.each(
  firstRows(1, [
    ['PostgreSQL', postgresClient],
    ['PGlite', embeddedClient],
  ]),
)('migrations: %s', (_, open) => {
  let client: SqlClient;
  beforeAll(async () => {
    client = await open();
  });
  beforeEach(async () => {
    await client.transaction((tx) => tx.script('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));
  });
  afterAll(() => client.close());

  it('applies everything once and remembers when', async () => {
    const migrations = sqlMigrations(client);
    expect(await migrations.status()).toEqual(ALL.map((id) => ({ id, appliedAtMs: null, newer: false })));
    const before = Date.now() - 1_000;
    expect(await migrations.up()).toEqual(ALL);
    expect(await migrations.up()).toEqual([]);
    for (const state of await migrations.status()) expect(state.appliedAtMs).toBeGreaterThan(before);
  });

  it('applies each migration once when several instances start together', async () => {
    const applied = await Promise.all([1, 2, 3, 4].map(() => sqlMigrations(client).up()));
    expect(applied.flat().sort()).toEqual(ALL);
  });

  it('adds what a later release brings', async () => {
    await sqlMigrations(client, MIGRATIONS.slice(0, 2)).up();
    expect(await sqlMigrations(client).up()).toEqual(ALL.slice(2));
  });

  it('makes tables of types of what was checked by lists, and keeps every row', async () => {
    await sqlMigrations(client, MIGRATIONS.slice(0, ALL.indexOf('0012_types'))).up();
    const rule = (type: string, task: string) =>
      client.query(`INSERT INTO alert_rules
          (name, rule_type, task_type, comparison, threshold, is_enabled, notify_channels, cooldown_seconds)
        VALUES ('r', '${type}', '${task}', '>', 1, true, '{}', 0)`);
    const trigger = (id: string, task: string) =>
      client.query(`INSERT INTO manual_triggers (trigger_id, kind, task_type, total)
        VALUES ('${id}', 'single', '${task}', 1)`);
    await rule('queue_backlog', 'realname');
    await rule('stop_unconfirmed', 'package');
    for (const task of TASK_TYPES) await trigger(task, task);
    const rows = async () =>
      Promise.all(
        ['alert_rules', 'manual_triggers', 'polling_configs', 'concurrency_configs'].map((table) =>
          client.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY t`),
        ),
      );
    const before = await rows();

    const upTo0012 = MIGRATIONS.slice(0, ALL.indexOf('0012_types') + 1);
    expect(await sqlMigrations(client, upTo0012).up()).toEqual(['0012_types']);
    expect(await rows()).toEqual(before);
    await sqlMigrations(client).up();
    // What the release before sends is taken as it was, and refused as it was.
    await rule('avg_duration', 'carddata');
    await trigger('next', 'package');
    await client.query(`UPDATE manual_triggers SET succeeded = 1 WHERE trigger_id = 'realname'`);
    for (const refused of [
      () => rule('stop_unconfirmed', 'realname'),
      () => rule('guess', 'realname'),
      () => trigger('swap', 'swap'),
      () => client.query(`UPDATE polling_configs SET task_type = 'swap'`),
    ]) {
      await expect(refused()).rejects.toMatchObject({ kind: 'invalid', code: 'value_refused' });
    }
  });

  it('names what a later release brought, applies nothing for it, and goes on', async () => {
    await sqlMigrations(client).up();
    const older = sqlMigrations(client, MIGRATIONS.slice(0, -2));
    expect(await older.up()).toEqual([]);
    expect((await older.status()).filter(({ newer }) => newer).map(({ id }) => id)).toEqual(ALL.slice(-2));
    expect((await older.status()).map(({ id }) => id)).toEqual(ALL);
    expect((await sqlMigrations(client).status()).some(({ newer }) => newer)).toBe(false);
  });

  it.each(['0013_fleet', '0014_safeguards'])(
    'refuses a database of a development build, with its %s',
    async (id) => {
      await sqlMigrations(client, MIGRATIONS.slice(0, ALL.indexOf('0012_types') + 1)).up();
      await client.query(`INSERT INTO cardpoll_migrations (id, checksum) VALUES ('${id}', '-')`);
      const refused = {
        kind: 'config',
        code: 'development_database',
        message: expect.stringContaining(`a development build of cardpoll (migration ${id})`),
        hint: expect.stringContaining('Restore the backup'),
      };
      await expect(sqlMigrations(client).up()).rejects.toMatchObject(refused);
      await expect(sqlMigrations(client).status()).rejects.toMatchObject(refused);
      expect(await client.query('SELECT count(*)::integer AS applied FROM cardpoll_migrations')).toEqual([
        { applied: 13 },
      ]);
    },
  );

  it('refuses a file that changed after it was applied, and applies nothing', async () => {
    await sqlMigrations(client, MIGRATIONS.slice(0, 2)).up();
    const edited = MIGRATIONS.map((each, i) => (i === 1 ? { ...each, sql: `${each.sql} ` } : each));
    await expect(sqlMigrations(client, edited).up()).rejects.toMatchObject({
      kind: 'config',
      code: 'migration_changed',
      message: expect.stringContaining(ALL[1] as string),
    });
    expect((await sqlMigrations(client).status()).filter((state) => state.appliedAtMs !== null)).toHaveLength(
      2,
    );
  });

  it('leaves nothing behind of a migration that fails', async () => {
    const broken = { id: '0002_broken', sql: 'CREATE TABLE half_done (id integer); SELECT 1 / 0;' };
    const migrations = sqlMigrations(client, [MIGRATIONS[0] as (typeof MIGRATIONS)[0], broken]);
    await expect(migrations.up()).rejects.toThrow(/division by zero/);
    expect((await migrations.status()).map((state) => state.appliedAtMs !== null)).toEqual([true, false]);
    expect(await client.query(`SELECT to_regclass('half_done') IS NULL AS absent`)).toEqual([
      { absent: true },
    ]);
  });
});

describe('migrations: PostgreSQL only', () => {
  const closing: Array<{ close(): Promise<void> }> = [];
  afterEach(async () => {
    for (const opened of closing.splice(0)) await opened.close();
  });

  function closeLater<T extends { close(): Promise<void> }>(opened: T): T {
    closing.push(opened);
    return opened;
  }

  it('says that another instance is migrating after a bounded wait', async () => {
    const client = closeLater(await postgresClient());
    // While the first migrator is inside its transaction, a second one tries.
    const slow = sqlMigrations({
      query: client.query.bind(client),
      close: client.close.bind(client),
      transaction: (work) =>
        client.transaction(async (tx) => {
          const result = await work(tx);
          await expect(sqlMigrations(client, MIGRATIONS, 50).up()).rejects.toMatchObject({
            kind: 'busy',
            code: 'migration_lock_held',
          });
          return result;
        }),
    });
    expect(await slow.up()).toEqual(ALL);
    expect(await sqlMigrations(client).up()).toEqual([]);
  });

  it('takes longer than any other statement may, and says before that it begins', async () => {
    const url = await emptyDatabase();
    const impatient = { applicationName: 'cardpoll', maxConnections: 1, answerTimeoutMs: 500 };
    const client = closeLater(new PostgresClient({ url, ...impatient }));
    const slow = { id: '0001_slow', sql: 'CREATE TABLE slow (id integer); SELECT pg_sleep(1)' };
    const begun: string[] = [];
    expect(await sqlMigrations(client, [slow]).up((id) => begun.push(id))).toEqual(['0001_slow']);
    expect(begun).toEqual(['0001_slow']);
    await expect(client.query('SELECT pg_sleep(1)')).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('is what every other call asks for while the schema is missing', async () => {
    const store = closeLater(
      await openPostgresRecordStore({ url: await emptyDatabase(), applicationName: 'cardpoll' }),
    );
    for (const call of [
      () => store.cards.count(),
      () => store.configs.list(),
      () => store.cards.importChunk([]),
    ]) {
      await expect(call()).rejects.toMatchObject({
        kind: 'config',
        code: 'not_migrated',
        hint: 'Run: cardpoll migrate up',
      });
    }
  });

  it('takes a card that an operator inserts by hand', async () => {
    const url = await emptyDatabase();
    const store = closeLater(await openPostgresRecordStore({ url, applicationName: 'cardpoll' }));
    await store.migrations.up();
    await query(url, `INSERT INTO cards (card_id, iccid) VALUES (1, '898600000000000001')`);
    expect(await store.cards.find('1')).toMatchObject({
      carrierId: 0,
      status: 1,
      allowanceMb: null,
      vendorId: null,
      stopped: false,
    });
  });
});

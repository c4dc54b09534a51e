// PostgreSQL unavailable, full or locked: the errors that callers get, and that everything continues by itself afterwards.
import { readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { freePort } from '../../support/free-port.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { addCards, range } from './stores.ts';

const PASSWORD = 'correct-horse';

describe('PostgreSQL outages', () => {
  let server: PostgresServer;
  let url: string;
  const opened: RecordStore[] = [];

  async function open(to = url): Promise<RecordStore> {
    const store = await openPostgresRecordStore({ url: to, applicationName: 'cardpoll', maxConnections: 4 });
    opened.push(store);
    return store;
  }

  /** @returns the number of rows. */
  async function plainSql(text: string): Promise<number> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rowCount } = await client.query(text);
    await client.end();
    return rowCount ?? 0;
  }

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    await (await open()).migrations.up();
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await server.stop();
  });

  it('names the server, and never the password, when nothing listens', async () => {
    const port = await freePort();
    const store = await open(`postgres://someone:${PASSWORD}@127.0.0.1:${port}/cards`);
    const error = await store.ping().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'unavailable', code: 'postgres_unreachable' });
    expect(String(error)).toContain(`127.0.0.1:${port}`);
    expect(String(error)).not.toContain(PASSWORD);
  });

  it('refuses a URL that cannot be read', async () => {
    await expect(open('postgres://127.0.0.1:notaport/x')).rejects.toMatchObject({ kind: 'config' });
  });

  it.each(['SIGINT', 'SIGQUIT', 'SIGKILL'] as const)(
    'recovers by itself after the server went down with %s',
    async (signal) => {
      const store = await open();
      await addCards(store, 1, 2, 3);
      // Connections idle in the pool, and one in the middle of a statement, break with the server.
      await Promise.all(range(4).map(() => store.ping()));
      const running = store.cards.count();
      await Promise.all([server.kill(signal), running.catch(() => {})]);
      for (const call of [
        () => store.ping(),
        () => store.cards.changeMark(),
        () => store.cards.importChunk([]),
      ]) {
        await expect(call()).rejects.toMatchObject({ kind: 'unavailable', code: 'postgres_unreachable' });
      }
      await server.start();
      expect(await store.cards.count()).toBe(3);
      await store.results.write([{ cardId: 1, taskType: 'realname', polledAtMs: 1 }]);
    },
  );

  it('reports that the connection of a running statement was ended', async () => {
    const store = await open();
    const claims = range(2_000).map((cardId) => ({ cardId, taskType: 'realname' as const, polledAtMs: 1 }));
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    await locker.query('BEGIN; LOCK TABLE card_polls');
    const blocked = store.results.write(claims);
    blocked.catch(() => {});
    // Not on the locker's connection: a transaction sees the activity of its first look.
    await waitFor(
      async () =>
        (await plainSql(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'cardpoll' AND wait_event_type = 'Lock'`,
        )) > 0,
      { what: 'the blocked statement' },
    );
    await expect(blocked).rejects.toMatchObject({ kind: 'unavailable', code: 'postgres_unreachable' });
    await locker.query('ROLLBACK');
    await locker.end();
    expect(await store.results.write(claims)).toMatchObject({ staleUsage: [] });
  });

  it('reports that the server has no connection left', async () => {
    await plainSql('CREATE ROLE narrow LOGIN CONNECTION LIMIT 0');
    const narrow = new URL(url);
    narrow.username = 'narrow';
    await expect((await open(narrow.href)).ping()).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'postgres_out_of_resources',
    });
  });

  it('distinguishes a wrong password, user and database from an outage', async () => {
    await plainSql(`CREATE ROLE guarded LOGIN PASSWORD '${PASSWORD}'`);
    await requirePasswords();
    const wrong = new URL(url);
    wrong.username = 'guarded';
    wrong.password = 'battery-staple';
    const error = await (await open(wrong.href)).ping().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'config', code: 'postgres_access_refused' });
    expect(String(error)).toContain('password authentication failed');
    expect(String(error)).not.toContain('battery-staple');
    const absent = new URL(url);
    absent.pathname = '/nowhere';
    await expect((await open(absent.href)).ping()).rejects.toMatchObject({
      kind: 'config',
      code: 'postgres_access_refused',
    });
    wrong.password = PASSWORD;
    await (await open(wrong.href)).ping();
  });

  /** The role guarded needs its password from now on. */
  async function requirePasswords(): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const [{ hba_file: file }] = (await client.query('SHOW hba_file')).rows;
    writeFileSync(file, `host all guarded 127.0.0.1/32 scram-sha-256\n${readFileSync(file, 'utf8')}`);
    await client.query('SELECT pg_reload_conf()');
    await waitFor(
      async () =>
        (await client.query(`SELECT FROM pg_hba_file_rules WHERE 'guarded' = ANY (user_name)`)).rowCount,
      { what: 'the new access rules' },
    );
    await client.end();
  }
});

// What keeps an initialisation from going on: who holds the lock that it waits for, on a real PostgreSQL, and what to type.
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../../src/platform/clock.ts';
import type { FakeClock } from '../../../support/fake-clock.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { instanceOf, PolledFleet } from '../../../support/polled-fleet.ts';
import { waitFor } from '../../../support/wait-for.ts';

let stores: OperatedStores;
let clients: pg.Client[];
/** After a minute in which nothing happened. */
let text: () => Promise<string>;
beforeEach(async () => {
  let aheadMs = 0;
  const clock: Clock = {
    now: () => systemClock.now() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
    sleep: systemClock.sleep.bind(systemClock),
  };
  stores = await openOperatedStores({ clock });
  clients = [];
  const { stats } = stores.operations();
  await new PolledFleet(stores.live, clock as unknown as FakeClock).alive(instanceOf('a'));
  // The number of cards is known before they are locked.
  await stats.overview();
  aheadMs = 61_000;
  text = async () => {
    const reason = (await stats.overview()).healthReasons.find(({ code }) => code === 'init_stuck');
    return `${reason?.text} -> ${reason?.command}`;
  };
});
afterEach(async () => {
  for (const client of clients) await client.end().catch(() => {});
  await stores.close();
});

async function session(name: string, user?: string): Promise<pg.Client> {
  const url = new URL(stores.databaseUrl);
  if (user !== undefined) url.username = user;
  const client = new pg.Client({ connectionString: url.href, application_name: name });
  client.on('error', () => {});
  await client.connect();
  clients.push(client);
  return client;
}

const pidOf = async (client: pg.Client) => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;

/** A daemon's session that waits for the cards. */
async function waiting(): Promise<void> {
  const daemon = await session('cardpoll');
  daemon.query('SELECT count(*) FROM cards').catch(() => {});
  await waitFor(async () => (await stores.records.lockHolders()).length > 0, { what: 'a daemon that waits' });
}

describe('an initialisation that makes no progress', () => {
  it('waits for a session, which is named with how to end it, and no secret of its statement', async () => {
    const holder = await session('psql');
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE cards IN ACCESS EXCLUSIVE MODE');
    await holder.query("SELECT set_config('x.password', 'hunter2', true), 4711 AS secret");
    await waiting();
    const pid = await pidOf(holder);
    await holder.query("SELECT set_config('x.password', 'hunter2', true), 4711 AS secret");
    // A busy machine may need a second look: the locks are asked for in a bounded time.
    await expect
      .poll(text)
      .toMatch(
        new RegExp(
          `cards.* ${pid} of \\S+ psql .* \\d+ s; .*SELECT set_config\\( \\.\\.\\.\\).* SELECT pg_terminate_backend\\(${pid}\\) -> null$`,
        ),
      );
    await stores.sql(`SELECT pg_terminate_backend(${pid})`);
    await waitFor(async () => (await stores.records.lockHolders()).length === 0, {
      what: 'the lock to be gone',
    });
  });

  it('waits behind a change that waits for a reader: the change is named, and how to cancel it', async () => {
    const [reader, changer] = [await session('report'), await session('migration')];
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM cards');
    changer.query('ALTER TABLE cards ADD COLUMN x integer').catch(() => {});
    await waitFor(
      async () => ((await stores.sql('SELECT FROM pg_locks WHERE NOT granted')) as pg.QueryResult).rowCount,
      { what: 'the change to wait' },
    );
    await waiting();
    await expect
      .poll(text)
      .toMatch(
        / of \S+ migration also waits .*ALTER TABLE cards ADD COLUMN x .*; cancel .* SELECT pg_cancel_backend\(\d+\)/,
      );
  });

  it('waits for no lock, and that is said', async () => {
    await expect.poll(text).toMatch(/waits for no lock .* -> cardpoll doctor$/);
  });

  it('and PostgreSQL does not answer: it is not known', async () => {
    Object.assign(stores.records, { lockHolders: async () => Promise.reject(new Error('away')) });
    await expect.poll(text).toMatch(/not known -> cardpoll doctor$/);
  });
});

it('shows of a session of another user what a user without rights may see', async () => {
  const role = `poll_${Date.now()}`;
  await stores.sql(`CREATE ROLE ${role} LOGIN; GRANT SELECT ON cards TO ${role}`);
  const holder = await session('psql');
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE cards IN ACCESS EXCLUSIVE MODE');
  await waiting();
  const { openPostgresRecordStore } = await import('../../../../src/store/postgres/record-store.ts');
  const url = new URL(stores.databaseUrl);
  url.username = role;
  const records = await openPostgresRecordStore({ url: url.href, applicationName: 'cardpoll' });
  try {
    expect(await records.lockHolders()).toMatchObject([
      {
        table: 'cards',
        pid: await pidOf(holder),
        name: expect.stringMatching(/ psql$/),
        openMs: null,
        query: null,
      },
    ]);
  } finally {
    await records.close();
    await holder.query('ROLLBACK');
    await stores.sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});

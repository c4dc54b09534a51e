// What the doctor says of a record store: a real PostgreSQL, and clocks that are wrong.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordStoreFindings } from '../../../../src/operations/doctor/record-store.ts';
import { type Clock, systemClock } from '../../../../src/platform/clock.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { emptyDatabase } from '../../../support/fresh-stores.ts';

const DAY_MS = 86_400_000;
const EXPECTED = { connectionsPerInstance: 10, instances: 1, timeZone: 'UTC', psql: 'psql' };

let url: string;
let records: RecordStore;
beforeAll(async () => {
  url = await emptyDatabase();
  records = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
});
afterAll(() => records.close());

const ahead = (ms: number): Clock => ({ ...systemClock, now: () => Date.now() + ms });
async function found(check: string, clock: Clock = systemClock, expected = EXPECTED) {
  const findings = await recordStoreFindings(records, clock, expected);
  return findings.find((finding) => finding.check === check);
}

it('missing migrations, and partitions that cannot be made before them', async () => {
  expect(await found('migrations')).toMatchObject({ status: 'warning', command: 'cardpoll migrate up' });
  expect((await found('usage partitions'))?.status).toBe('skipped');
  await records.migrations.up();
  expect((await found('migrations'))?.status).toBe('ok');
  expect((await found('usage partitions'))?.detail).toMatch(/the first daemon creates them/);
});

it('migrations of a later version', async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`INSERT INTO cardpoll_migrations (id, checksum) VALUES ('9999_later', 'x')`);
    expect(await found('migrations')).toMatchObject({
      status: 'warning',
      detail: 'applied by a later version: 9999_later',
    });
    expect((await found('usage partitions'))?.status, 'all that this version needs is there').toBe('ok');
  } finally {
    await client.query(`DELETE FROM cardpoll_migrations WHERE id = '9999_later'`);
    await client.end();
  }
});

it('usage partitions: three months ahead, fewer, none for the present one', async () => {
  const month = new Date().toISOString().slice(0, 7);
  await records.results.ensurePartitions(month);
  expect(await found('usage partitions')).toMatchObject({
    status: 'ok',
    detail: `${month} and 3 months ahead`,
  });
  const clock = (days: number) => ahead(days * DAY_MS);
  expect((await found('usage partitions', clock(62)))?.status).toBe('warning');
  expect(await found('usage partitions', clock(200))).toMatchObject({
    status: 'failed',
    command: 'cardpoll daemon --roles scheduler',
  });
});

it('a clock that is off', async () => {
  expect((await found('postgresql clock'))?.status).toBe('ok');
  expect((await found('postgresql clock', ahead(5_000)))?.status).toBe('warning');
  const off = await found('postgresql clock', ahead(-60_000));
  expect(off).toMatchObject({ status: 'failed', command: 'timedatectl set-ntp true' });
  expect(off?.detail).toMatch(/^\+(59|60)\d{3} ms against this machine/);
});

it('connections of all instances and of others', async () => {
  expect((await found('postgresql connections'))?.status).toBe('ok');
  const many = await found('postgresql connections', systemClock, { ...EXPECTED, instances: 500 });
  expect(many?.status).toBe('failed');
  expect(many?.detail).toMatch(/^5000 for 500 instances and \d+ of others, of \d+/);
});

describe('what keeps dead rows', () => {
  let client: pg.Client;
  let pid: number;
  let elsewhere: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: url, application_name: 'pg_dump' });
    elsewhere = new pg.Client({ connectionString: await emptyDatabase() });
    await Promise.all([client.connect(), elsewhere.connect()]);
    pid = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
  });
  afterEach(() => Promise.all([client.query('ROLLBACK'), elsewhere.query('ROLLBACK')]));
  afterAll(() => Promise.all([client.end(), elsewhere.end()]));

  /** Not those of autovacuum. */
  async function ofDumps(store = records) {
    return (await store.server()).snapshots.filter(({ name }) => name.endsWith('pg_dump'));
  }

  it.each([
    ['writes', 'BEGIN; CREATE TABLE written (id integer)'],
    ['reads by one snapshot, as pg_dump does', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class'],
  ])('a transaction that %s, in this database', async (_, sql) => {
    for (const one of [elsewhere, client]) await one.query(sql);
    expect(await ofDumps()).toEqual([
      expect.objectContaining({
        kind: 'session',
        name: 'postgres pg_dump',
        openMs: expect.any(Number),
        transactions: expect.any(Number),
        remedy: `SELECT pg_terminate_backend(${pid})`,
      }),
    ]);
  });

  it('not a transaction that is open and holds no snapshot', async () => {
    await client.query('BEGIN; SELECT FROM pg_class');
    expect(await ofDumps()).toEqual([]);
  });

  it('a user with few rights sees them, but not for how long', async () => {
    await client.query('CREATE ROLE few LOGIN');
    try {
      const few = new URL(url);
      few.username = 'few';
      const reopened = await openPostgresRecordStore({
        url: few.href,
        applicationName: 'cardpoll-doctor',
        readsOnly: true,
      });
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class');
      const asFew = await ofDumps(reopened);
      const { connections } = await reopened.server();
      await reopened.close();
      expect(asFew).toEqual([
        expect.objectContaining({ kind: 'session', openMs: null, transactions: expect.any(Number) }),
      ]);
      expect(connections, 'hidden ones count').toBeGreaterThan(1);
    } finally {
      await client.query('ROLLBACK');
      await client.query('DROP ROLE few');
    }
  });
});

it('a database that takes no writes', async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const name = new URL(url).pathname.slice(1);
    expect((await found('postgresql replication'))?.status).toBe('ok');
    await client.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    const reopened = await openPostgresRecordStore({ url, applicationName: 'cardpoll', readsOnly: true });
    const findings = await recordStoreFindings(reopened, systemClock, EXPECTED);
    await reopened.close();
    expect(findings.find(({ check }) => check === 'postgresql replication')).toMatchObject({
      status: 'failed',
      detail: 'it takes no writes: default_transaction_read_only is on',
    });
  } finally {
    await client.end();
  }
});

// Cleanup while other clients work, which only a server has: which clients it waits for.
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore, PostgresClient } from '../../../src/store/postgres/record-store.ts';
import { countWithin } from '../../../src/store/sql/client/bounded-count.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';

const calendar = new MonthCalendar('Asia/Shanghai');
const EXPIRED = 'usage_records_2025_01';

let url: string;
let store: RecordStore;
let reader: pg.Client;
let writer: pg.Client;

beforeEach(async () => {
  url = await freshDatabase();
  store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  await store.migrations.up();
  for (const month of ['2025-01', '2026-11']) await store.results.ensurePartitions(month);
  [reader, writer] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([reader.connect(), writer.connect()]);
  await writer.query(
    `INSERT INTO usage_records SELECT i, '2025-01-01', '2025-01-15', 1, 1 FROM generate_series(1, 100) i`,
  );
});
afterEach(async () => {
  await Promise.all([reader.end(), writer.end(), store.close()]);
});

/** Begins a run and takes it to where the expired partition is about to be detached. */
async function untilDetaching(): Promise<void> {
  const nowMs = Date.parse('2026-11-21T10:00:00Z');
  const plan = await store.cleanup.plan({ nowMs, calendar, changeMark: null });
  await store.cleanup.begin('r1', plan, null);
  const noted = `SELECT FROM cleanup_run_items WHERE dropping = '${EXPIRED}'`;
  while ((await writer.query(noted)).rowCount === 0) await store.cleanup.step();
}

function waitingDetach(): Promise<number> {
  return waitFor(
    async () => {
      const { rows } = await writer.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE query LIKE 'ALTER TABLE%DETACH%' AND wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rows[0]?.pid;
    },
    { what: 'the detaching to wait' },
  );
}

async function finish() {
  for (;;) {
    const step = await store.cleanup.step();
    if (step.state === 'finished') return step.run;
  }
}

const exists = async () =>
  (await writer.query(`SELECT FROM pg_class WHERE relname = '${EXPIRED}'`)).rowCount === 1;

it('a long reader holds up the removal of a month, but no writer', async () => {
  await untilDetaching();
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM usage_records');
  const step = store.cleanup.step();
  await waitingDetach();
  await writer.query(`SET lock_timeout = 100`);
  await writer.query(`INSERT INTO usage_records VALUES (1, '2026-11-01', now(), 1, 1)`);
  await writer.query(`SELECT count(*) FROM usage_records`);
  expect(await exists()).toBe(true);
  await reader.query('COMMIT');
  expect(await step).toEqual({ state: 'going', deleted: 100 });
  expect(await exists()).toBe(false);
});

it('a removal that was cut off half-way is finished by the next step', async () => {
  await untilDetaching();
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM usage_records');
  const step = store.cleanup.step();
  const refused = expect(step).rejects.toMatchObject({ kind: 'unavailable', code: 'postgres_timeout' });
  await writer.query('SELECT pg_cancel_backend($1)', [await waitingDetach()]);
  await refused;
  // Already detached for all other clients.
  expect((await writer.query('SELECT FROM usage_records')).rowCount).toBe(0);
  await reader.query('COMMIT');
  expect((await finish()).items[0]).toMatchObject({ target: 'usage_records', deleted: 100 });
  expect(await exists()).toBe(false);
});

it('what takes long to count is estimated', async () => {
  const client = new PostgresClient({ url, applicationName: 'cardpoll', maxConnections: 1 });
  try {
    await writer.query('CREATE TABLE many AS SELECT i FROM generate_series(1, 50000) i');
    await writer.query('ANALYZE many');
    const quick = 'SELECT FROM many WHERE i <= $1::integer';
    const slow = `${quick} AND pg_sleep(0.001) IS NOT NULL`;
    expect(await countWithin(client, quick, [20_000], 300_000)).toEqual({ rows: 20_000, estimated: false });
    const { rows, estimated } = await countWithin(client, slow, [20_000], 50);
    expect(estimated).toBe(true);
    expect(rows).toBeGreaterThan(18_000);
    expect(rows).toBeLessThan(22_000);
    expect(await countWithin(client, 'SELECT FROM missing', [], 300_000)).toEqual({
      rows: 0,
      estimated: false,
    });
  } finally {
    await client.close();
  }
});

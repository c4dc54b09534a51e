// What only a server has: a run of resumes that is handed out while a stop is ordered, and counters of what is read.
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { emptyRun, simOf } from '../../support/resume-run.ts';
import { waitFor } from '../../support/wait-for.ts';
import { addCards } from './stores.ts';

const MONTH = '2026-11';
const CARD = 1;

let databaseUrl: string;
let store: RecordStore;
let plain: pg.Client;
/** Outside of transactions, in which the view of waits does not change. */
let watcher: pg.Client;
let runId: string;

beforeEach(async () => {
  databaseUrl = await freshDatabase();
  store = await openPostgresRecordStore({ url: databaseUrl, applicationName: 'cardpoll' });
  await store.migrations.up();
  await store.results.ensurePartitions(MONTH);
  [plain, watcher] = [databaseUrl, databaseUrl].map((at) => new pg.Client({ connectionString: at })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([plain.connect(), watcher.connect()]);
  await addCards(store, CARD, 2);
  await plain.query('UPDATE cards SET stopped = true');
  runId = (await emptyRun(store, { cardIds: [CARD, 2] })).id;
});
afterEach(async () => {
  await Promise.all([plain.end(), watcher.end(), store.close()]);
});

/** Orders the stop of the card. @param beforeCommit runs when the order is written and nobody else sees it yet. */
const order = (beforeCommit: () => Promise<unknown> = async () => {}) =>
  store.inTurn(async ({ stops }) => {
    const answer = await stops.order(CARD, MONTH, { by: 'bob', reason: 'fraud' });
    await beforeCommit();
    return answer;
  });

/** Until it has ended or waits for a lock. */
async function endsOrWaits(work: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  void work.finally(() => {
    hasEnded = true;
  });
  const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await waitFor(async () => hasEnded || (await watcher.query(waits)).rowCount === 1, {
    what: 'the end or a lock',
  });
}

it('a step that begins before the order is committed leaves the card out', async () => {
  let step: Promise<boolean> = Promise.resolve(false);
  const answer = await order(() => {
    step = store.resumes.handOut(runId);
    return endsOrWaits(step);
  });
  await step;
  expect(answer).toBe('ordered');
  expect(await store.resumes.find(runId)).toMatchObject({ total: 1, waiting: 1 });
  expect(await store.resumes.claim(simOf(CARD), true, 1_000)).toEqual({ state: 'none' });
});

it('an order that comes before a step is committed takes the card out again', async () => {
  await plain.query('BEGIN');
  await plain.query('SELECT FROM resume_runs FOR UPDATE');
  await plain.query('INSERT INTO card_resumes (run_id, card_id) VALUES ($1, $2)', [runId, CARD]);
  const ordering = order();
  await endsOrWaits(ordering);
  await plain.query('COMMIT');
  expect(await ordering).toBe('ordered');
  expect(await store.resumes.claim(simOf(CARD), true, 1_000)).toEqual({ state: 'none' });
});

it('the resumed cards of the last day are counted without a look at all stops', async () => {
  await plain.query(
    `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, completed_at)
     SELECT id, '2026-11-01', '898600', 2, 1, 'done', now() FROM generate_series(1, 20000) AS id`,
  );
  const read = async () => {
    const { rows } = await watcher.query<{ scans: number; stops: number }>(
      `SELECT (seq_scan + idx_scan)::integer AS scans, seq_tup_read::integer AS stops
       FROM pg_stat_user_tables WHERE relname = 'card_stops'`,
    );
    return rows[0] as { scans: number; stops: number };
  };
  const before = await read();
  const another = await openPostgresRecordStore({ url: databaseUrl, applicationName: 'cardpoll' });
  expect(await another.stopControl.read()).toMatchObject({ resumedDay: 0 });
  // The server counts what a connection has read when that ends.
  await another.close();
  await waitFor(async () => (await read()).scans > before.scans);
  expect((await read()).stops - before.stops).toBeLessThan(20_000);
});

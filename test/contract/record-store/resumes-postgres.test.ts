// A run of resumes that is being filled, and a stop that is ordered in the same moment, which only a server has.
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { freshDatabase } from '../../support/fresh-stores.ts';
import { emptyRun } from '../../support/resume-run.ts';
import { waitFor } from '../../support/wait-for.ts';
import { addCards } from './stores.ts';

const MONTH = '2026-11';
const CARD = 1;

let store: RecordStore;
let plain: pg.Client;
/** Outside of transactions, in which the view of waits does not change. */
let watcher: pg.Client;
let runId: string;

beforeEach(async () => {
  const url = await freshDatabase();
  store = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  await store.migrations.up();
  await store.results.ensurePartitions(MONTH);
  [plain, watcher] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
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
  let filling: Promise<boolean> = Promise.resolve(false);
  const answer = await order(() => {
    filling = store.resumes.advance(runId);
    return endsOrWaits(filling);
  });
  await filling;
  expect(answer).toBe('ordered');
  expect(await store.resumes.find(runId)).toMatchObject({ total: 1, waiting: 1 });
  expect(await store.resumes.claim(CARD, 1_000)).toEqual({ state: 'none' });
});

it('an order that comes before a step is committed takes the card out again', async () => {
  await plain.query('BEGIN');
  await plain.query('SELECT FROM resume_runs FOR UPDATE');
  await plain.query('INSERT INTO card_resumes (run_id, card_id) VALUES ($1, $2)', [runId, CARD]);
  const ordering = order();
  await endsOrWaits(ordering);
  await plain.query('COMMIT');
  expect(await ordering).toBe('ordered');
  expect(await store.resumes.claim(CARD, 1_000)).toEqual({ state: 'none' });
});

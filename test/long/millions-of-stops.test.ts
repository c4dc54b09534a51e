// Claims, holds, releases and runs of resumes with 1.5 million stops, against 15,000 in the same run: a claim takes a similar
// time, the steps of a run do not get slower, no statement is cancelled for its time, and the memory does not grow.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../src/store/postgres/record-store.ts';
import { sim } from '../contract/record-store/stores.ts';
import { freshDatabase } from '../support/fresh-stores.ts';
import { filledRun, simOf } from '../support/resume-run.ts';
import { UNLIMITED } from '../support/stop-rules.ts';

const MONTH = '2026-11';
const LEASE_MS = 60_000;
/** Cards without a stop, over their package. */
const FREE = 1_000;
/** Calls of one kind whose times are compared. */
const CALLS = 200;
const AT_MOST_TIMES = 3;
const AT_MOST_GROWTH = 64 * 1024 * 1024;
const DECISION = { by: 'alice', reason: 'checked' };

interface Size {
  readonly cards: number;
  records: RecordStore;
  database: pg.Client;
}

const small: Size = { cards: 15_000, records: undefined as never, database: undefined as never };
const large: Size = { cards: 1_500_000, records: undefined as never, database: undefined as never };

beforeAll(async () => {
  for (const size of [small, large]) {
    const url = await freshDatabase();
    size.records = await openPostgresRecordStore({ url, applicationName: 'test' });
    await size.records.migrations.up();
    await size.records.results.ensurePartitions(MONTH);
    size.database = new pg.Client({ connectionString: url });
    await size.database.connect();
    await fill(size);
  }
});
afterAll(async () => {
  for (const { records, database } of [small, large]) {
    await records?.close();
    await database?.end();
  }
});

/** All cards are over their package. Those with an even id were stopped; the stops of the others are held, but for the last. */
async function fill({ cards, database }: Size): Promise<void> {
  for (const text of [
    `INSERT INTO cards (card_id, iccid, carrier_id, status, allowance_mb, stopped)
     SELECT id, '8986' || lpad(id::text, 16, '0'), 1, 1, 10, id % 2 = 0 AND id <= $1::integer - ${FREE}
     FROM generate_series(1, $1::integer) id`,
    `INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at)
     SELECT id, '${MONTH}-01', 100, 100, now() FROM generate_series(1, $1::integer) id`,
    `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, held_by, requested_at, completed_at)
     SELECT id, '${MONTH}-01', '8986' || lpad(id::text, 16, '0'), 100, 10, CASE WHEN is_done THEN 'done' ELSE 'held' END,
       CASE WHEN NOT is_done THEN 'budget_hour' END, at, CASE WHEN is_done THEN at END
     FROM generate_series(1, $1::integer - ${FREE}) id,
       LATERAL (SELECT id % 2 = 0 AS is_done, now() - id % 7200 * interval '1 second' AS at) one`,
  ])
    await database.query(text, [cards]);
  await database.query('ANALYZE');
}

const median = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number;

async function timed(call: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await call();
  return performance.now() - before;
}

/** Calls both by turns, so that what else the machine does slows both. */
async function expectSimilarTimes(call: (size: Size, i: number) => Promise<unknown>): Promise<void> {
  const [times, before]: [number[], number[]] = [[], []];
  for (let i = 0; i < CALLS; i += 1) {
    before.push(await timed(() => call(small, i)));
    times.push(await timed(() => call(large, i)));
  }
  expect(median(times)).toBeLessThan(AT_MOST_TIMES * median(before));
}

const free = ({ cards }: Size, i: number) => cards - FREE + 1 + i;

it('claims and holds stops as fast', async () => {
  await expectSimilarTimes(async (size, i) => {
    const claim = await size.records.stops.claim(sim(free(size, i)), MONTH, LEASE_MS, UNLIMITED);
    expect(claim.state).toBe('granted');
  });
  await expectSimilarTimes(async (size, i) => {
    const rules = { ...UNLIMITED, maxPerHour: 0 };
    const claim = await size.records.stops.claim(sim(free(size, CALLS + i)), MONTH, LEASE_MS, rules);
    expect(claim.state).toBe('held');
  });
});

it('hands a run out in steps that do not get slower, in bounded memory', async () => {
  const runs = new Map<Size, string>();
  const stopped = ({ cards }: Size) => (cards - FREE) / 2;
  for (const size of [small, large]) {
    const { id, total } = await filledRun(size.records, { sinceMs: 0, carrierId: null });
    expect(total).toBe(stopped(size));
    runs.set(size, id);
  }
  const heapBefore = process.memoryUsage().heapUsed;
  const waiting = async ({ database }: Size) => {
    const { rows } = await database.query(
      "SELECT card_id FROM card_resumes WHERE state = 'waiting' LIMIT 1000",
    );
    return rows.map(({ card_id }) => Number(card_id));
  };
  const [smallIds, largeIds] = await Promise.all([waiting(small), waiting(large)]);
  await expectSimilarTimes(async (size, i) => {
    const cardId = (size === small ? smallIds : largeIds)[i] as number;
    expect((await size.records.resumes.claim(simOf(cardId), true, LEASE_MS)).state).toBe('granted');
  });
  const largeRun = runs.get(large) as string;
  await expectSteadySteps(largeRun);
  expect(await large.records.resumes.find(largeRun)).toMatchObject({ waiting: 0, resumed: stopped(large) });
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(AT_MOST_GROWTH);
});

/** Ends what waits, and hands out, until no card is left. The last steps take about the time of the first ones. */
async function expectSteadySteps(id: string): Promise<void> {
  const times: number[] = [];
  for (;;) {
    const { rowCount } = await large.database.query(
      "UPDATE card_resumes SET state = 'resumed', ended_at = now() WHERE state = 'waiting'",
    );
    times.push(await timed(() => large.records.resumes.handOut(id)));
    if (rowCount === 0) break;
  }
  const full = times.slice(0, -1);
  expect(full.length).toBeGreaterThan(50);
  expect(median(full.slice(-20))).toBeLessThan(AT_MOST_TIMES * median(full.slice(0, 20)));
}

it('claims stops as fast while all that were held are released', async () => {
  const released = { small: 0, large: 0 };
  for (const [name, { records }] of Object.entries({ small, large })) {
    for (let ids: readonly number[] = [0]; ids.length > 0; ) {
      ids = await records.stops.release(null, DECISION);
      released[name as keyof typeof released] += ids.length;
    }
  }
  const held = ({ cards }: Size) => (cards - FREE) / 2 + CALLS;
  expect(released).toEqual({ small: held(small), large: held(large) });
  const turn = { most: 1_000, resumesFirst: 0, stops: true, resumes: true, mode: 'enforce' } as const;
  expect(await large.records.orders.take(turn, LEASE_MS)).toHaveLength(1_000);
  await expectSimilarTimes(async (size, i) => {
    const claim = await size.records.stops.claim(sim(2 * i + 1), MONTH, LEASE_MS, UNLIMITED);
    expect(claim.state).toBe('granted');
  });
});

// The initialiser's states on a real database and the live store of this process: what happens when it is interrupted,
// overtaken by another leader, or when configs come and go.

import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { Initialiser, type InitialiserDeps } from '../../../../src/engine/schedule/initialiser.ts';
import type { Repairs } from '../../../../src/engine/schedule/ring-repair.ts';
import { ringOf } from '../../../../src/engine/schedule/scheduler.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import { INIT_NOT_STARTED, type InitProgress } from '../../../../src/store/ports/live/coordination.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { ringKey } from '../../../../src/store/ports/live/rings.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const CARDS = 40;
const PAUSE_MS = 7;
/** A new set of changes is looked for this often. */
const SYNC_EVERY_MS = 1_000;
const COMMON = { taskType: 'carddata', cardCondition: 'any', intervalSeconds: 60, status: 1 } as const;
const ALL: PollingConfig = { id: 1, name: 'all', carrierId: null, priority: 0, ...COMMON };
/** Wins over ALL where it matches. */
const OWN: PollingConfig = { id: 2, name: 'carrier 7', carrierId: 7, priority: 1, ...COMMON };

let records: RecordStore;
let sql: pg.Client;
let live: LiveStore;
let configs: PollingConfig[];
let fence: number | null;
let initialiser: Initialiser;
/** What the initialiser reported: reasons to compare everything, and repairs. */
let reported: InitProgress[];
let reasons: string[];
let repairs: Repairs[];
let marksTaken: number;
let identities: { live: string; records: string };

beforeAll(async () => {
  const url = await freshDatabase();
  records = await openPostgresRecordStore({ url, applicationName: 'cardpoll' });
  await records.migrations.up();
  sql = new pg.Client({ connectionString: url });
  await sql.connect();
});
afterAll(async () => {
  await sql.end();
  await records.close();
});

beforeEach(async () => {
  // Every second card is carrier 7's.
  await sql.query(`INSERT INTO cards (card_id, iccid, carrier_id)
    SELECT id, lpad(id::text, 20, '0'), 7 * (id % 2) FROM generate_series(1, ${CARDS}) id`);
  live = openLimitedLiveStore({ clock: systemClock });
  configs = [ALL];
  marksTaken = 0;
  [reported, reasons] = [[], []];
  repairs = [];
  identities = { live: 'redis 1', records: 'database 1' };
  fence = 1;
  initialiser = makeInitialiser(live);
});
afterEach(() => sql.query('DELETE FROM cards'));

/** The object with some of its methods replaced. */
function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (object, name) => {
      const own = methods[name as keyof T];
      if (own !== undefined) return own;
      const value = object[name as keyof T];
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}

/** Without pauses between batches, unless told otherwise: passes follow at once here. */
function makeInitialiser(
  store: InitialiserDeps['live'],
  differing: Partial<InitialiserDeps> = {},
): Initialiser {
  return new Initialiser({
    judgeChanged: async () => {},
    calendar: new MonthCalendar('UTC'),
    live: overriding(store, { identity: async () => identities.live }),
    records: overriding(records, {
      identity: async () => identities.records,
      cards: overriding(records.cards, {
        changeMark: () => {
          marksTaken += 1;
          return records.cards.changeMark();
        },
      }),
    }),
    matcher: () => new ConfigMatcher(configs),
    fence: () => fence,
    clock: systemClock,
    initBatch: 15,
    initPauseMs: 0,
    queueCap: 1e6,
    onProgress: (progress) => reported.push(progress),
    onReconcile: (reason) => reasons.push(reason),
    onRepair: (made) => repairs.push(made),
    onError: (error) => expect.unreachable(String(error)),
    ...differing,
  });
}

/** One pass, and the rest after it. @returns its milliseconds */
async function passBy(clock: FakeClock): Promise<number> {
  const restMs = await initialiser.runOnce();
  clock.advance(restMs);
  return restMs;
}

async function configure(): Promise<void> {
  for (const config of configs)
    await live.rings.configure(ringOf(config), { intervalMs: 60_000, enabled: true });
}

async function runUntilCompleted(): Promise<void> {
  await configure();
  for (let pass = 0; pass < 20; pass += 1) {
    await initialiser.runOnce();
    const rings = await live.rings.list();
    const { status } = await live.coordination.initProgress();
    if (status === 'completed' && rings.every((ring) => ring.building === null && ring.loaded)) return;
  }
  expect.unreachable('initialisation did not complete in 20 passes');
}

async function members(): Promise<Record<number, number>> {
  return Object.fromEntries((await live.rings.list()).map((ring) => [ring.configId, ring.members]));
}

it('reports its progress after each batch, and rests as long as configured in between', async () => {
  await configure();
  const clock = new FakeClock();
  initialiser = makeInitialiser(live, { clock, initPauseMs: PAUSE_MS });
  const rests: number[] = [];
  while (reported.at(-1)?.status !== 'completed') rests.push(await passBy(clock));
  expect(rests).toEqual([0, PAUSE_MS, PAUSE_MS, SYNC_EVERY_MS]);
  const known = { reason: 'build', batches: 3, total: CARDS, startedAtMs: reported[0]?.startedAtMs };
  const running = { ...known, status: 'running', finishedAtMs: null };
  expect(reported).toMatchObject([
    { ...running, loaded: 0, lastCardId: 0, batch: 0 },
    { ...running, loaded: 15, lastCardId: 15, batch: 1 },
    { ...running, loaded: 30, lastCardId: 30, batch: 2 },
    { ...known, status: 'completed', loaded: CARDS, batch: 3, finishedAtMs: reported[3]?.updatedAtMs },
  ]);
  expect(await live.coordination.initProgress()).toEqual(reported[3]);
  expect(await initialiser.runOnce()).toBe(SYNC_EVERY_MS);
  expect(reported, 'a pass without changes is not reported').toHaveLength(4);
});

describe('a pause of minutes between two batches', () => {
  const LONG_MS = 600_000;
  let clock: FakeClock;

  /** The first batch is loaded. */
  beforeEach(async () => {
    clock = new FakeClock();
    initialiser = makeInitialiser(live, { clock, initPauseMs: LONG_MS });
    await configure();
    await passBy(clock);
    expect(await initialiser.runOnce()).toBe(SYNC_EVERY_MS);
    expect(reported.at(-1)).toMatchObject({ status: 'running', loaded: 15 });
  });

  it('does not hold up changed cards, and ends at its time', async () => {
    await sql.query('DELETE FROM cards WHERE card_id = 1');
    clock.advance(SYNC_EVERY_MS);
    expect(await initialiser.runOnce()).toBe(SYNC_EVERY_MS);
    expect(await live.rings.contains(ringOf(ALL), [1, 2])).toEqual([false, true]);
    const { changeMark } = await live.coordination.initProgress();
    expect(changeMark).not.toBe(reported.at(-1)?.changeMark);
    clock.advance(LONG_MS - SYNC_EVERY_MS - 400);
    expect(await initialiser.runOnce(), 'the rest of the pause').toBe(400);
    expect(reported).toHaveLength(2);
    clock.advance(400);
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject({ status: 'running', loaded: 30 });
  });

  it('does not hold up a changed config', async () => {
    configs = [ALL, OWN];
    await configure();
    clock.advance(SYNC_EVERY_MS);
    await initialiser.runOnce();
    expect((await live.rings.list()).map((ring) => ring.generation)).toEqual([1, 1]);
    expect(reported.at(-1)).toMatchObject({ status: 'running', loaded: 0 });
  });

  it('does not hold up changed cards while everything is compared', async () => {
    while (reported.at(-1)?.status !== 'completed') await passBy(clock);
    await live.coordination.requestReconciliation(1);
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject({ reason: 'requested', status: 'running', loaded: 15 });
    const { length } = reported;
    await sql.query('DELETE FROM cards WHERE card_id = 1');
    clock.advance(SYNC_EVERY_MS);
    expect(await initialiser.runOnce()).toBe(SYNC_EVERY_MS);
    expect(await members()).toEqual({ 1: CARDS - 1 });
    expect(reported).toHaveLength(length);
    expect((await live.coordination.initProgress()).status).toBe('running');
    clock.advance(LONG_MS - SYNC_EVERY_MS);
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject({ reason: 'requested', status: 'running', loaded: 30 });
  });
});

describe('cards that change all the time', () => {
  let clock: FakeClock;
  let pagesRead: number;
  let changesSince: RecordStore['cards']['changesSince'];

  beforeEach(async () => {
    await runUntilCompleted();
    await live.coordination.requestReconciliation(1);
    clock = new FakeClock();
    pagesRead = 0;
    const cards = overriding(records.cards, {
      page: (...args) => {
        pagesRead += 1;
        return records.cards.page(...args);
      },
      changesSince: (...args) => changesSince(...args),
    });
    const identity = async () => identities.records;
    const store = overriding(live, { now: async () => clock.now() });
    initialiser = makeInitialiser(store, { clock, records: overriding(records, { identity, cards }) });
  });

  it('do not hold up a comparison, however often they are asked for', async () => {
    changesSince = async (...args) => {
      await sql.query('UPDATE cards SET status = 3 - status WHERE card_id = 1');
      return records.cards.changesSince(...args);
    };
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject({ reason: 'requested', loaded: 15 });
  });

  it('are applied without a rest or a look at other cards while very many wait, which is not stuck', async () => {
    changesSince = records.cards.changesSince;
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject({ reason: 'requested', loaded: 15 });
    changesSince = async (...args) => {
      await sql.query('UPDATE cards SET status = 3 - status WHERE card_id = 1');
      return { ...(await records.cards.changesSince(...args)), caughtUp: false };
    };
    pagesRead = 0;
    for (let pass = 0; pass < 3; pass += 1) {
      clock.advance(60_000);
      expect(await initialiser.runOnce()).toBe(0);
    }
    expect(pagesRead, 'only the first pass looks').toBe(1);
    const progress = await live.coordination.initProgress();
    expect(progress).toMatchObject({ status: 'running', loaded: 15, updatedAtMs: clock.now() });
    changesSince = records.cards.changesSince;
    while (reported.at(-1)?.status !== 'completed') await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject({ reason: 'requested', loaded: CARDS });
  });
});

it('counts on where there are more cards than were estimated', async () => {
  await configure();
  await initialiser.runOnce();
  await sql.query(`INSERT INTO cards (card_id, iccid)
    SELECT id, lpad(id::text, 20, '0') FROM generate_series(${CARDS + 1}, ${CARDS + 20}) id`);
  while (reported.at(-1)?.status !== 'completed') await initialiser.runOnce();
  expect(reported.map(({ total, batch, batches }) => [total, batch, batches])).toEqual([
    [40, 0, 3],
    [40, 1, 3],
    [40, 2, 3],
    [45, 3, 4],
    [60, 4, 5],
    [60, 4, 4],
  ]);
});

it('does nothing without the lead, and nothing before the scheduler has configured all rings', async () => {
  expect(await initialiser.runOnce()).toBe(500);
  await configure();
  fence = null;
  expect(await initialiser.runOnce()).toBe(500);
  expect([reported, marksTaken]).toEqual([[], 0]);
});

it('builds the ring of a new config although a card that belongs there changes at the same time', async () => {
  await runUntilCompleted();
  configs = [ALL, OWN];
  await configure();
  await sql.query('UPDATE cards SET status = 2 WHERE card_id = 1');
  await runUntilCompleted();
  expect(await members()).toEqual({ 1: CARDS / 2, 2: CARDS / 2 });
});

it('moves the cards of a removed config to the rings that poll them now', async () => {
  configs = [ALL, OWN];
  await runUntilCompleted();
  expect(await members()).toEqual({ 1: CARDS / 2, 2: CARDS / 2 });
  configs = [ALL];
  await initialiser.runOnce();
  await runUntilCompleted();
  expect(await members()).toEqual({ 1: CARDS });
});

it('begins a build again that was cut off after any of its steps', async () => {
  await runUntilCompleted();
  for (const steps of [0, 1, 2]) {
    configs = [ALL, OWN];
    await configure();
    // Before its last step the new ring is in use and empty: that must never look complete.
    await expect(makeInitialiser(failingAfter(steps)).runOnce()).rejects.toThrow('cut off');
    await runUntilCompleted();
    expect(await members(), `after ${steps} steps`).toEqual({ 1: CARDS / 2, 2: CARDS / 2 });
    configs = [ALL];
    await runUntilCompleted();
    expect(await members(), `back after ${steps} steps`).toEqual({ 1: CARDS });
  }
});

/** The live store, dying at the write number `steps + 1` of a pass. */
function failingAfter(steps: number): InitialiserDeps['live'] {
  let left = steps;
  const step = async (): Promise<void> => {
    if (left === 0) throw new Error('cut off');
    left -= 1;
  };
  const { rings, coordination } = live;
  return overriding(live, {
    rings: overriding(rings, {
      startGeneration: async (...args) => {
        await step();
        return rings.startGeneration(...args);
      },
    }),
    coordination: overriding(coordination, {
      saveInitProgress: async (progress) => {
        await step();
        await coordination.saveInitProgress(progress);
      },
    }),
  });
}

it.each([
  ['another instance leads', null],
  ['this instance leads again', 2],
])('writes nothing once the lead of its pass is lost and %s', async (_, then) => {
  await configure();
  // The lead is lost while the pass waits for the database.
  const overtaken = makeInitialiser(
    overriding(live, {
      coordination: overriding(live.coordination, {
        initProgress: async () => {
          const progress = await live.coordination.initProgress();
          fence = then;
          return progress;
        },
      }),
    }),
  );
  await expect(overtaken.runOnce()).rejects.toMatchObject({ code: 'lead_lost' });
  expect((await live.rings.list()).map((ring) => ring.generation)).toEqual([0]);
  expect((await live.coordination.initProgress()).status).toBe('pending');
});

it('rebuilds only the rings whose selection changed, and polls from the old one meanwhile', async () => {
  const other: PollingConfig = { ...ALL, id: 3, taskType: 'package', name: 'other type' };
  configs = [OWN, other];
  await runUntilCompleted();
  expect(await members()).toEqual({ 2: CARDS / 2, 3: CARDS });
  // As by `update polling_configs set carrier_id = null`.
  configs = [{ ...OWN, carrierId: null }, other];
  await initialiser.runOnce();
  const [own, untouched] = (await live.rings.list()).sort((a, b) => a.configId - b.configId);
  expect(own).toMatchObject({ generation: 1, members: CARDS / 2, building: { generation: 2 } });
  expect(untouched).toMatchObject({ generation: 1, building: null });
  await runUntilCompleted();
  expect(await members()).toEqual({ 2: CARDS, 3: CARDS });
  expect((await live.rings.list()).map((ring) => ring.generation).sort()).toEqual([1, 2]);
});

it('begins a build again whose selection changed in the middle of it, under another leader too', async () => {
  configs = [OWN];
  await runUntilCompleted();
  configs = [{ ...OWN, carrierId: null }];
  await initialiser.runOnce();
  await initialiser.runOnce();
  configs = [{ ...OWN, carrierId: 0 }];
  initialiser = makeInitialiser(live);
  await runUntilCompleted();
  expect(await members()).toEqual({ 2: CARDS / 2 });
  expect(await live.rings.contains(ringOf(OWN), [1, 2])).toEqual([false, true]);
});

it('moves the ring of a config whose task type changed', async () => {
  configs = [ALL, OWN];
  await runUntilCompleted();
  configs = [ALL, { ...OWN, taskType: 'package' }];
  await initialiser.runOnce();
  await runUntilCompleted();
  expect((await live.rings.list()).map((ring) => [ringKey(ring), ring.members]).sort()).toEqual([
    ['carddata:1', CARDS],
    ['package:2', CARDS / 2],
  ]);
});

it('completes with configs that select nothing, and with none at all', async () => {
  configs = [{ ...OWN, carrierId: 99 }];
  await runUntilCompleted();
  expect(await members()).toEqual({ 2: 0 });
  configs = [];
  await initialiser.runOnce();
  expect(await live.rings.list()).toEqual([]);
  expect((await live.coordination.initProgress()).status).toBe('completed');
});

describe('a build without its last report', () => {
  const all = { status: 'completed', loaded: CARDS, total: CARDS, batch: 3, batches: 3 };

  it('keeps the size of the fleet if its configs were deleted', async () => {
    await configure();
    await initialiser.runOnce();
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject({ status: 'running', loaded: 15, total: CARDS });
    configs = [];
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject(all);
  });

  it('counts its last batch if it was cut off after it', async () => {
    await configure();
    const { coordination } = live;
    const saveInitProgress = async (progress: InitProgress) => {
      if (progress.status === 'completed') throw new Error('cut off');
      await coordination.saveInitProgress(progress);
    };
    initialiser = makeInitialiser(
      overriding(live, { coordination: overriding(coordination, { saveInitProgress }) }),
    );
    for (let pass = 0; pass < 3; pass += 1) await initialiser.runOnce();
    await expect(initialiser.runOnce()).rejects.toThrow('cut off');
    expect(await members()).toEqual({ 1: CARDS });
    initialiser = makeInitialiser(live);
    await initialiser.runOnce();
    expect(reported.at(-1)).toMatchObject(all);
  });
});

describe('reconciliation', () => {
  /** Passes of the loop until a pass of reconciliation has ended. */
  async function runUntilSwept(): Promise<void> {
    const { sweptAtMs } = await live.coordination.reconciliation();
    for (let pass = 0; pass < 40; pass += 1) {
      await initialiser.runOnce();
      const now = await live.coordination.reconciliation();
      if (now.position === '' && now.sweptAtMs !== sweptAtMs) return;
    }
    expect.unreachable('no pass of reconciliation ended');
  }

  it('repairs and counts cards that are missing, foreign or in two rings', async () => {
    configs = [ALL, OWN];
    await runUntilCompleted();
    await live.rings.remove(ringOf(OWN), [1, 3, 5]);
    await live.rings.add(ringOf(OWN), [2, 1_000_001]);
    await live.rings.remove(ringOf(ALL), [4]);
    await live.rings.add(ringOf(OWN), [4]);
    await runUntilSwept();
    expect(await members()).toEqual({ 1: CARDS / 2, 2: CARDS / 2 });
    expect(await live.rings.contains(ringOf(OWN), [1, 3, 5, 2, 4, 1_000_001])).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(await live.coordination.reconciliation()).toMatchObject({
      reason: 'continuous',
      healedMissing: 4,
      healedForeign: 2,
      healedDouble: 1,
    });
    expect(repairs.length).toBeGreaterThan(0);
    expect(reasons).toEqual([]);
    expect((await live.coordination.initProgress()).reason).toBe('build');
  });

  it('counts the members again after a repair that was cut off before it was saved', async () => {
    await runUntilCompleted();
    await live.rings.remove(ringOf(ALL), [1, 3]);
    let cutOff = false;
    const recounted: number[] = [];
    const rings = overriding(live.rings, {
      add: async (ring, cardIds) => {
        await live.rings.add(ring, cardIds);
        if (cardIds.length === 0 || cutOff) return;
        cutOff = true;
        throw new Error('the connection broke');
      },
      recount: async (ring) => {
        recounted.push(ring.configId);
        return live.rings.recount(ring);
      },
    });
    initialiser = makeInitialiser(overriding(live, { rings }));
    while (!cutOff) await initialiser.runOnce().catch(() => {});
    initialiser = makeInitialiser(overriding(live, { rings }));
    await runUntilSwept();
    expect(recounted).toEqual([ALL.id]);
    expect(await live.coordination.reconciliation()).toMatchObject({ healed: 0 });
  });

  it('counts nothing for a card that changed while it was looked at', async () => {
    configs = [ALL, OWN];
    await runUntilCompleted();
    // Changed after the last sync: the look sees a card that is in the wrong ring, the feed moves it.
    await sql.query('UPDATE cards SET carrier_id = 7 WHERE card_id = 2');
    await sql.query('DELETE FROM cards WHERE card_id = 3');
    await runUntilSwept();
    expect(await members()).toEqual({ 1: CARDS / 2 - 1, 2: CARDS / 2 });
    expect(repairs).toEqual([]);
  });

  it.each([
    ['the live store', 'live_store_replaced', () => ({ live: 'redis 2', records: 'database 1' })],
    ['the database', 'record_store_replaced', () => ({ live: 'redis 1', records: 'database 2' })],
  ])('compares everything at once when %s was replaced', async (_, reason, now) => {
    await runUntilCompleted();
    await runUntilSwept();
    await live.rings.remove(ringOf(ALL), [7]);
    identities = now();
    await initialiser.runOnce();
    expect(await live.coordination.initProgress()).toMatchObject({ status: 'running', reason });
    await runUntilSwept();
    expect(await members()).toEqual({ 1: CARDS });
    const after = await live.coordination.initProgress();
    expect(after).toMatchObject({ status: 'completed', total: CARDS, loaded: CARDS });
    // Only a database that was replaced does not know the mark any more.
    expect(marksTaken).toBe(reason === 'live_store_replaced' ? 1 : 2);
    expect((await live.rings.list())[0]).toMatchObject({ generation: 1, building: null });
    // Once: nothing changed since.
    for (let pass = 0; pass < 5; pass += 1) await initialiser.runOnce();
    expect(reasons).toEqual([reason]);
  });

  it('compares everything with a new mark when the database was restored from an older copy', async () => {
    await runUntilCompleted();
    const { changeMark } = await live.coordination.initProgress();
    // A mark of the database as it was: the copy has not come so far.
    const ahead = changeMark.replace(/^\d+:\d+/, '99999999:99999999');
    await live.coordination.saveInitProgress({
      ...(await live.coordination.initProgress()),
      changeMark: ahead,
    });
    await expect(records.cards.changesSince(ahead, 1)).rejects.toMatchObject({ code: 'change_mark_ahead' });
    await live.rings.remove(ringOf(ALL), [7]);
    await initialiser.runOnce();
    expect((await live.coordination.initProgress()).changeMark).not.toBe(ahead);
    await runUntilSwept();
    expect(reasons).toEqual(['record_store_replaced']);
    expect(marksTaken).toBe(2);
    expect(await members()).toEqual({ 1: CARDS });
  });

  it('answers a request once, and goes on where a leader was killed', async () => {
    await runUntilCompleted();
    await runUntilSwept();
    await live.rings.remove(ringOf(ALL), [1, 39]);
    await live.rings.add(ringOf(ALL), [5_000]);
    await live.coordination.requestReconciliation(Date.now());
    await initialiser.runOnce();
    expect(await live.coordination.initProgress()).toMatchObject({
      status: 'running',
      reason: 'requested',
      loaded: 15,
    });
    const { position } = await live.coordination.reconciliation();
    initialiser = makeInitialiser(live);
    await initialiser.runOnce();
    expect((await live.coordination.reconciliation()).position).not.toBe(position);
    expect((await live.coordination.reconciliation()).checked).toBe(30);
    await runUntilSwept();
    expect(await members()).toEqual({ 1: CARDS });
    expect(reasons).toEqual(['requested']);
    expect(await live.coordination.reconciliation()).toMatchObject({ healedMissing: 2, healedForeign: 1 });
  });

  it('reports a requested comparison like a build, and a continuous one not at all', async () => {
    await runUntilCompleted();
    await runUntilSwept();
    reported.length = 0;
    const clock = new FakeClock(Date.now());
    initialiser = makeInitialiser(live, { clock, initPauseMs: PAUSE_MS });
    await live.coordination.requestReconciliation(Date.now());
    const rests: number[] = [];
    while (reported.at(-1)?.status !== 'completed') rests.push(await passBy(clock));
    expect([new Set(rests.slice(0, -1)), rests.at(-1)]).toEqual([new Set([PAUSE_MS]), SYNC_EVERY_MS]);
    const known = { reason: 'requested', total: CARDS, batches: 3, startedAtMs: reported[0]?.startedAtMs };
    const running = { ...known, status: 'running', finishedAtMs: null };
    expect(reported.slice(0, 2)).toMatchObject([
      { ...running, loaded: 15, batch: 1 },
      { ...running, loaded: 30, batch: 2 },
    ]);
    const last = reported.at(-1);
    const all = { loaded: CARDS, batch: 3 };
    expect(reported.slice(2, -1)).toMatchObject(reported.slice(2, -1).map(() => ({ ...running, ...all })));
    expect(last).toMatchObject({ ...known, ...all, status: 'completed', finishedAtMs: last?.updatedAtMs });
    const { length } = reported;
    for (let pass = 0; pass < 5; pass += 1) expect(await initialiser.runOnce()).toBe(SYNC_EVERY_MS);
    expect(reported).toHaveLength(length);
  });

  it('completes a build whose rings are gone, and throws errors that it cannot handle', async () => {
    await runUntilCompleted();
    const progress = await live.coordination.initProgress();
    await live.coordination.saveInitProgress({ ...progress, status: 'running', finishedAtMs: null });
    reported.length = 0;
    await initialiser.runOnce();
    expect(reported).toMatchObject([{ status: 'completed', finishedAtMs: expect.any(Number) }]);
    const away = new CardpollError('unavailable', 'record_store_unreachable', 'away');
    const failing = vi.spyOn(records.cards, 'changesSince').mockRejectedValue(away);
    await expect(initialiser.runOnce()).rejects.toBe(away);
    failing.mockRestore();
    expect(reasons).toEqual([]);
  });

  it('compares everything at once when it finds that many members were lost', async () => {
    await runUntilCompleted();
    await live.rings.remove(
      ringOf(ALL),
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    await runUntilSwept();
    expect(reasons).toEqual(['members_lost']);
    expect(await members()).toEqual({ 1: CARDS });
  });

  it('compares instead of building again when the progress was lost and the rings are there', async () => {
    await runUntilCompleted();
    await live.rings.remove(ringOf(ALL), [9]);
    await sql.query('DELETE FROM cards WHERE card_id = 10');
    await live.coordination.saveInitProgress(INIT_NOT_STARTED);
    await initialiser.runOnce();
    await runUntilSwept();
    expect(reasons).toEqual(['progress_lost']);
    expect((await live.rings.list())[0]).toMatchObject({ generation: 1, members: CARDS - 1 });
    expect((await live.coordination.initProgress()).status).toBe('completed');
  });
});

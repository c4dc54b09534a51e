// Failures at the operations: why polls fail, the most frequent first, and which cards fail now, the latest first.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { HistoryOperations } from '../../../../src/operations/stats/history.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { idsBetween } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';
import { PolledFleet } from '../../../support/polled-fleet.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

let clock: FakeClock;
let live: LiveStore;
let fleet: PolledFleet;
let history: HistoryOperations;

beforeEach(() => {
  clock = new FakeClock();
  live = openLimitedLiveStore({ clock });
  fleet = new PolledFleet(live, clock);
  history = new HistoryOperations({ live });
});
afterEach(() => live.close());

const note = (cardId: number) => ({
  cardId,
  reason: 'timeout',
  message: `no answer for ${cardId}`,
  durationMs: 5_000,
});

it('are none, a task type, where nothing failed', async () => {
  const nothing = { reasons: [], carriers: [], failingCards: 0, cards: [] };
  expect(await history.failures()).toEqual([
    { taskType: 'realname', ...nothing },
    { taskType: 'carddata', ...nothing },
    { taskType: 'package', ...nothing },
  ]);
});

it('are counted by reason, the most frequent first, of their own task type', async () => {
  const reasons = { http: 2, timeout: 30, connect: 7 };
  await live.stats.record(
    'carddata',
    'w',
    1,
    statsDelta({ succeeded: 0, failed: 39, durationMs: 1, reasons }),
  );
  expect((await history.failures()).map((one) => one.reasons)).toEqual([
    [],
    [
      { reason: 'timeout', count: 30 },
      { reason: 'connect', count: 7 },
      { reason: 'http', count: 2 },
    ],
    [],
  ]);
});

it('name the ten carriers with the highest failing share, of their own task type', async () => {
  const carriers = new Map([
    [0, { polls: 50, failed: 0 }],
    [99, { polls: 3, failed: 3 }],
    ...idsBetween(1, 10).map((carrierId) => [carrierId, { polls: 300, failed: carrierId }] as const),
  ]);
  await live.stats.record(
    'carddata',
    'w',
    1,
    statsDelta({ succeeded: 3_000, failed: 58, durationMs: 1, carriers }),
  );
  const [realname, carddata] = await history.failures();
  expect(realname?.carriers).toEqual([]);
  expect(carddata?.carriers.map(({ carrierId }) => carrierId)).toEqual(idsBetween(1, 10).reverse());
  expect(carddata?.carriers[0]).toEqual({ carrierId: 10, polls: 300, failed: 10, failedPercent: 3.33 });
});

it('name a card with what was said last and how often it failed', async () => {
  await live.failures.note('package', [note(5)]);
  const at = new Date(clock.now());
  await fleet.fail('package', [5]);
  await fleet.fail('package', [5]);
  expect((await history.failures())[2]).toEqual({
    taskType: 'package',
    reasons: [],
    carriers: [],
    failingCards: 1,
    cards: [{ cardId: 5, at, reason: 'timeout', message: 'no answer for 5', durationMs: 5_000, attempts: 2 }],
  });
});

it('name the twenty cards that failed last, and count all', async () => {
  const cardIds = idsBetween(1, 25);
  await fleet.fail('realname', cardIds);
  for (const cardId of cardIds) {
    clock.advance(1);
    await live.failures.note('realname', [note(cardId)]);
  }
  const [realname] = await history.failures();
  expect(realname?.failingCards).toBe(25);
  expect(realname?.cards.map(({ cardId }) => cardId)).toEqual(idsBetween(6, 25).reverse());
});

it('are counted for a time by hour and carrier, for two days', async () => {
  const startMs = Math.ceil(clock.now() / 3_600_000) * 3_600_000;
  clock.advance(startMs - clock.now());
  let flush = 0;
  const count = async (
    taskType: 'carddata' | 'package',
    ...carriers: Array<[number | null, number, number]>
  ) => {
    flush += 1;
    const byCarrier = new Map(
      carriers.map(([id, polls, failed]) => [id, { polls, failed, timed: 0, late: 0 }]),
    );
    await live.stats.record(taskType, 'w', flush, statsDelta({ byCarrier }));
  };
  await count('carddata', [1, 100, 0], [2, 50, 5], [null, 8, 8]);
  clock.advance(600_000);
  await count('carddata', [2, 50, 20]);
  await count('package', [2, 3, 1]);
  clock.advance(3_600_000);
  await count('package', [1, 1_000, 1]);
  const found = await history.failuresWithin(startMs, null);
  const [first, second] = [new Date(startMs), new Date(startMs + 3_600_000)];
  expect(found).toEqual({
    ...{ since: first, until: new Date(clock.now()), keptFrom: null },
    items: [
      { at: first, taskType: 'carddata', carrierId: 2, polls: 100, failed: 25, failedPercent: 25 },
      { at: first, taskType: 'carddata', carrierId: null, polls: 8, failed: 8, failedPercent: 100 },
      { at: first, taskType: 'package', carrierId: 2, polls: 3, failed: 1, failedPercent: 33.33 },
      { at: second, taskType: 'package', carrierId: 1, polls: 1_000, failed: 1, failedPercent: 0.1 },
    ],
  });
  expect((await history.failuresWithin(null, null)).since).toEqual(new Date(clock.now() - 86_400_000));
  const slotOnly = await history.failuresWithin(startMs, startMs + 600_000);
  expect(
    slotOnly.items.map(({ failed }) => failed),
    'the first ten minutes',
  ).toEqual([8, 5]);
  const days = 86_400_000;
  const { keptFrom, items } = await history.failuresWithin(startMs - 3 * days, startMs - 2 * days);
  expect([keptFrom, items]).toEqual([new Date(startMs - 2 * days), []]);
  for (const [from, to] of [
    [startMs, startMs],
    [clock.now() + 1, null],
  ] as const)
    await expect(history.failuresWithin(from, to)).rejects.toMatchObject({ kind: 'invalid' });
});

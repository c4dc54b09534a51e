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

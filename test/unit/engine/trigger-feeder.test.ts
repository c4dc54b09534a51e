// What the leader does with triggers: feeds lists, takes back what cancelled ones left, finds what was lost. The work
// queue is the real one of this process; the records are a fake that keeps owed cards in memory. How cards are
// handed out and counted is proven in contract/record-store/triggers.test.ts.

import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/domain/limits/rate-limit.ts';
import { manualEntry } from '../../../src/domain/manual-trigger.ts';
import { TriggerFeeder } from '../../../src/engine/trigger-feeder.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type {
  FeedingTrigger,
  OwedCard,
  TriggerRecords,
} from '../../../src/store/ports/records/trigger-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../support/limits.ts';

const TYPE = 'realname';
const range = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const entries = (triggerId: string, cardIds: readonly number[]) =>
  cardIds.map((cardId) => manualEntry(cardId, triggerId));

let clock: FakeClock;
let live: LiveStore;
let feeding: FeedingTrigger[];
let owed: OwedCard[];
/** Cards of each trigger still to be handed out. */
let left: Map<string, number[]>;
let takenBack: Array<[string, readonly number[]]>;
/** Every call for cards: the trigger and how many were asked for. */
let handedOut: Array<[string, number]>;
let logged: Array<Record<string, unknown>>;
let fence: number | null;
let feeder: TriggerFeeder;
let records: TriggerRecords;
let rateLimits: RateLimit[];

const running = (triggerId: string): FeedingTrigger => ({ triggerId, taskType: TYPE, status: 'running' });

beforeEach(() => {
  clock = new FakeClock();
  live = openLimitedLiveStore({ clock });
  [feeding, owed, takenBack, handedOut, logged, fence] = [[], [], [], [], [], 1];
  left = new Map();
  rateLimits = [];
  const triggers: Partial<TriggerRecords> = {
    feeding: async () => feeding,
    handOut: async (triggerId, limit) => {
      handedOut.push([triggerId, limit]);
      const cardIds = left.get(triggerId)?.splice(0, limit) ?? [];
      return { cardIds, more: (left.get(triggerId)?.length ?? 0) > 0 };
    },
    takeBack: async (triggerId, running) => void takenBack.push([triggerId, running]),
    owed: async (taskType, _, after, limit) => {
      const from = after === null ? 0 : owed.indexOf(after) + 1;
      return taskType === TYPE ? owed.slice(from, from + limit) : [];
    },
    handOutAgain: async (cards) => cards,
  };
  records = triggers as TriggerRecords;
  feeder = new TriggerFeeder({
    triggers: records,
    work: live.work,
    manual: live.manual,
    rateLimits,
    fence: () => fence,
    clock,
    log: pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
});

const waiting = async () => (await live.work.counts(TYPE)).manualLength;
const claim = (max: number) =>
  live.work.claim(TYPE, { instanceId: 'w', claimNumber: clock.monotonic(), max, leaseMs: 60_000 });

it('takes what waits of a cancelled trigger out of the list, and leaves its running cards owed', async () => {
  await live.manual.push(TYPE, [...entries('gone', range(3)), ...entries('other', [4, 5])]);
  expect((await claim(2)).items.map((item) => item.member)).toEqual(entries('gone', [1, 2]));
  feeding = [{ triggerId: 'gone', taskType: TYPE, status: 'cancelled' }];
  await feeder.runOnce();
  expect(takenBack).toEqual([['gone', [1, 2]]]);
  expect(await live.manual.missing(TYPE, entries('other', [4, 5]))).toEqual([]);
  expect(await waiting()).toBe(2);
});

it('hands out nothing more of a cancelled trigger, and takes back nothing of another', async () => {
  left.set('gone', [1]);
  left.set('runs', [2]);
  feeding = [running('runs'), { ...running('gone'), status: 'cancelled' }];
  await live.manual.push(TYPE, entries('runs', [3]));
  await claim(1);
  await feeder.runOnce();
  expect(handedOut.map(([triggerId]) => triggerId)).toEqual(['runs']);
  expect(takenBack).toEqual([['gone', []]]);
});

it('takes back at once, and then every second, what keeps coming back from workers', async () => {
  await feeder.runOnce();
  clock.advance(500);
  feeding = [{ ...running('gone'), status: 'cancelled' }];
  await feeder.runOnce();
  expect(takenBack).toHaveLength(1);
  clock.advance(999);
  await feeder.runOnce();
  expect(takenBack).toHaveLength(1);
  clock.advance(1);
  await feeder.runOnce();
  expect(takenBack).toHaveLength(2);
});

it('puts back what was lost, also behind thousands of cards that were not', async () => {
  const cards = range(25_000);
  const lost = [7, 12_345, 24_999];
  owed = cards.map((cardId) => ({ triggerId: 't', cardId }));
  await live.manual.push(
    TYPE,
    entries(
      't',
      cards.filter((cardId) => !lost.includes(cardId)),
    ),
  );
  await feeder.runOnce();
  expect(await live.manual.missing(TYPE, entries('t', lost))).toEqual([]);
  expect(await waiting()).toBe(cards.length);
  expect(logged).toEqual([expect.objectContaining({ level: 40, task_type: TYPE, cards: lost.length })]);
});

it('leaves the rest of what is owed to who leads next', async () => {
  owed = range(20_001).map((cardId) => ({ triggerId: 't', cardId }));
  fence = 1;
  const { missing } = live.manual;
  live.manual.missing = async (...asked) => {
    fence = null;
    return missing.apply(live.manual, asked);
  };
  await feeder.runOnce();
  expect(await waiting()).toBe(10_000);
});

it('puts a bounded number of cards back at once, and the rest when there is room again', async () => {
  owed = range(70_000).map((cardId) => ({ triggerId: 't', cardId }));
  await feeder.runOnce();
  expect(await waiting()).toBe(50_000);
  clock.advance(5_000);
  await feeder.runOnce();
  expect(await waiting(), 'a full list gets nothing').toBe(50_000);
  await live.manual.remove(TYPE, ['t']);
  owed = owed.slice(50_000);
  clock.advance(5_000);
  await feeder.runOnce();
  expect(await waiting()).toBe(20_000);
});

it('does not call cards lost that may have waited for the limit of one card', async () => {
  owed = [{ triggerId: 't', cardId: 1 }];
  rateLimits.push({ kind: 'card', interfaces: null, everySeconds: 900 });
  await feeder.runOnce();
  expect(await waiting()).toBe(1);
  const msg = 'cards of manual triggers queued again: they were too early before, or lost';
  expect(logged).toEqual([expect.objectContaining({ level: 30, task_type: TYPE, cards: 1, msg })]);
});

it('looks for what was lost every few seconds, and does nothing once another instance leads', async () => {
  owed = [{ triggerId: 't', cardId: 1 }];
  await feeder.runOnce();
  expect(await waiting()).toBe(1);
  await live.manual.remove(TYPE, ['t']);
  clock.advance(4_999);
  await feeder.runOnce();
  expect(await waiting()).toBe(0);
  clock.advance(1);
  fence = null;
  await feeder.runOnce();
  expect(await waiting()).toBe(0);
  fence = 2;
  await feeder.runOnce();
  expect(await waiting()).toBe(1);
});

it('tops the list up to its length, in turns, so that a small trigger does not wait for a large one', async () => {
  left.set('large', range(100_000));
  left.set('small', [200_000]);
  feeding = ['large', 'small'].map(running);
  await feeder.runOnce();
  expect(await waiting()).toBe(10_000);
  expect(await live.manual.missing(TYPE, entries('small', [200_000]))).toEqual([]);
  await feeder.runOnce();
  expect(await waiting(), 'a full list is not fed').toBe(10_000);
  expect(handedOut.every(([, cards]) => cards > 0 && cards <= 2_500)).toBe(true);
});

it('shares what room is left between the triggers of a type', async () => {
  await live.manual.push(TYPE, entries('before', range(9_000)));
  for (const triggerId of ['a', 'b']) left.set(triggerId, range(100_000));
  feeding = ['a', 'b'].map(running);
  await feeder.runOnce();
  expect(handedOut.slice(0, 2)).toEqual([
    ['a', 500],
    ['b', 500],
  ]);
});

it('comes to every trigger of a type, however many there are', async () => {
  feeding = range(40).map((n) => running(`large ${n}`));
  for (const { triggerId } of feeding) left.set(triggerId, range(100_000));
  for (let pass = 0; pass < 3; pass += 1) await feeder.runOnce();
  expect(new Set(handedOut.map(([triggerId]) => triggerId)).size).toBe(40);
});

it('feeds the lists of its own type alone', async () => {
  left.set('a', [1]);
  feeding = [running('a')];
  await feeder.runOnce();
  expect((await live.work.counts('carddata')).manualLength).toBe(0);
  expect(handedOut).toHaveLength(1);
});

it('ends its pass where many cards match nothing, so that others have their turn', async () => {
  left.set('sparse', []);
  feeding = [running('sparse')];
  records.handOut = async (triggerId, limit) => {
    handedOut.push([triggerId, limit]);
    return { cardIds: [], more: true };
  };
  expect(await feeder.runOnce()).toBe(50);
  expect(handedOut).toHaveLength(16);
  feeding = [];
  expect(await feeder.runOnce(), 'there is nothing to feed').toBe(200);
});

it('hands out nothing more once another instance leads', async () => {
  left.set('a', range(100_000));
  feeding = [running('a')];
  const { handOut } = records;
  records.handOut = async (...asked) => {
    fence = null;
    return handOut.apply(records, asked);
  };
  await feeder.runOnce();
  expect(handedOut).toHaveLength(1);
  expect(await feeder.runOnce()).toBe(500);
});

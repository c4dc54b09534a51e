// Counts of polls on their way to the live store: each exactly once, however often the store was away meanwhile. The live
// store is the real one of this process; a wrapper in front of it loses or refuses flushes.

import { beforeEach, expect, it } from 'vitest';
import { durationBucketOf } from '../../../../src/domain/numbers.ts';
import { DOUBTFUL_BUCKET, growthBucketOf, minuteOf } from '../../../../src/domain/results/usage-growth.ts';
import { carrierSlotAt } from '../../../../src/domain/stats/carrier-slots.ts';
import { TASK_TYPES, type TaskType } from '../../../../src/domain/task-type.ts';
import { StatsRecorder } from '../../../../src/engine/stats/stats-recorder.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { PollStats, StatsDelta } from '../../../../src/store/ports/live/poll-stats.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const FLUSH_EVERY_MS = 500;
const CARRIER = 7;

let clock: FakeClock;
let live: LiveStore;
let recorder: StatsRecorder;
/** What was sent, whether it came through or not. */
let sent: Array<{ taskType: TaskType; instanceId: string; flushNumber: number }>;
let metered: unknown[];
/** What becomes of a flush on its way there, and of the answer on its way back. */
let going: (taskType: TaskType) => void;
let coming: () => void;

const away = () => {
  throw new Error('away');
};

beforeEach(() => {
  clock = new FakeClock();
  live = openLimitedLiveStore({ clock });
  [sent, metered] = [[], []];
  going = () => {};
  coming = () => {};
  recorder = new StatsRecorder({
    live: {
      stats: {
        record: async (taskType, instanceId, flushNumber, delta) => {
          sent.push({ taskType, instanceId, flushNumber });
          going(taskType);
          await live.stats.record(taskType, instanceId, flushNumber, delta);
          coming();
        },
      },
    },
    instanceId: 'w',
    meter: { poll: (...poll) => void metered.push(poll) },
    clock,
    onError: () => {},
  });
});

it('counts polls by how they went, how long they took and why they failed', async () => {
  recorder.countSucceeded('realname', 100, CARRIER);
  recorder.countSucceeded('realname', 101, CARRIER);
  recorder.countSucceeded('realname', 3_000, CARRIER);
  recorder.countFailed('realname', 200, 'timeout', CARRIER);
  recorder.countFailed('realname', 10, 'http', CARRIER);
  recorder.countFailed('realname', 10, 'http', CARRIER);
  recorder.note('realname', 'timeouts');
  recorder.note('realname', 'backpressure');
  recorder.note('realname', 'backpressure');
  recorder.note('realname', 'limitReached');
  recorder.countFailed('package', 5, 'card', CARRIER);
  expect(await recorder.runOnce()).toBe(FLUSH_EVERY_MS);
  expect(await live.stats.read('realname')).toMatchObject({
    total: 6,
    succeeded: 3,
    failed: 3,
    succeededMs: 3_201,
    timeouts: 1,
    backpressure: 2,
    limitReached: 1,
    window: {
      durationMs: 3_421,
      durations: {
        [durationBucketOf(100)]: 2,
        [durationBucketOf(3_000)]: 1,
        [durationBucketOf(200)]: 1,
        [durationBucketOf(10)]: 2,
      },
      reasons: { timeout: 1, http: 2 },
    },
  });
  expect(await live.stats.read('package')).toMatchObject({ total: 1, failed: 1, succeededMs: 0 });
  expect(sent).toEqual([
    { taskType: 'realname', instanceId: 'w', flushNumber: 1 },
    { taskType: 'package', instanceId: 'w', flushNumber: 1 },
  ]);
});

it('counts polls by carrier, from zero with every flush', async () => {
  recorder.countSucceeded('realname', 100, 7);
  recorder.countFailed('realname', 100, 'http', 7);
  recorder.countFailed('realname', 100, 'http', 8);
  recorder.countSucceeded('package', 100, 7);
  await recorder.runOnce();
  recorder.countFailed('realname', 100, 'http', 7);
  await recorder.runOnce();
  const carriers = async (taskType: TaskType) => [...(await live.stats.read(taskType)).window.carriers];
  expect(await carriers('realname')).toEqual([
    [7, { polls: 3, failed: 2, succeededMs: 100 }],
    [8, { polls: 1, failed: 1, succeededMs: 0 }],
  ]);
  expect(await carriers('package')).toEqual([[7, { polls: 1, failed: 0, succeededMs: 100 }]]);
});

it('counts readings that grew by how fast they did, from zero with every flush', async () => {
  for (const mbPerHour of [2, 2, 5_000]) {
    recorder.countSucceeded('carddata', 100, CARRIER);
    recorder.countUsageGrowth('carddata', mbPerHour);
  }
  recorder.countUsageGrowth('carddata', -3);
  recorder.countImplausible('carddata');
  await recorder.runOnce();
  recorder.countSucceeded('carddata', 100, CARRIER);
  await recorder.runOnce();
  expect([...(await live.stats.usageGrowth()).minutes]).toEqual([
    [minuteOf(clock.now()), { [growthBucketOf(2)]: 2, [growthBucketOf(5_000)]: 1, [DOUBTFUL_BUCKET]: 2 }],
  ]);
});

it('names the first fifty carriers of a flush, and counts every poll', async () => {
  let carriers: StatsDelta['carriers'] = new Map();
  const stats = {
    ...live.stats,
    record: async (...[, , , delta]: Parameters<PollStats['record']>) => {
      carriers = delta.carriers;
      expect(delta).toMatchObject({ succeeded: 61, failed: 1 });
    },
  };
  const crowded = new StatsRecorder({
    live: { stats },
    instanceId: 'w',
    meter: { poll: () => {} },
    clock,
    onError: () => {},
  });
  for (let carrierId = 1; carrierId <= 60; carrierId += 1) crowded.countSucceeded('realname', 1, carrierId);
  crowded.countSucceeded('realname', 1, 50);
  crowded.countFailed('realname', 1, 'http', 51);
  await crowded.runOnce();
  expect(carriers.size).toBe(50);
  expect(carriers.get(50)).toEqual({ polls: 2, failed: 0, succeededMs: 2 });
  expect(carriers.has(51)).toBe(false);
});

it('reports every poll to the metrics when it ends', () => {
  recorder.countSucceeded('carddata', 100, CARRIER);
  recorder.countFailed('package', 200, 'timeout', CARRIER);
  expect(metered).toEqual([
    ['carddata', 'succeeded', 100],
    ['package', 'failed', 200],
  ]);
});

it('sends each poll once, and nothing when nothing happened', async () => {
  await recorder.runOnce();
  expect(sent).toEqual([]);
  recorder.countSucceeded('realname', 100, CARRIER);
  await recorder.runOnce();
  await recorder.runOnce();
  recorder.countFailed('realname', 100, 'http', CARRIER);
  await recorder.runOnce();
  expect(sent.map(({ flushNumber }) => flushNumber)).toEqual([1, 2]);
  expect(await live.stats.read('realname')).toMatchObject({ succeeded: 1, failed: 1 });
});

it('sends that the limit was reached, also when no poll ended', async () => {
  recorder.note('realname', 'limitReached');
  await recorder.runOnce();
  expect(await live.stats.read('realname')).toMatchObject({ total: 0, limitReached: 1 });
});

it('sends as many failures as successes', async () => {
  // Whatever is added up to see whether there is something to send must not cancel out.
  recorder.countSucceeded('realname', 100, CARRIER);
  recorder.countFailed('realname', 100, 'http', CARRIER);
  recorder.note('package', 'limitReached');
  recorder.countFailed('package', 100, 'http', CARRIER);
  await recorder.runOnce();
  expect(await live.stats.read('realname')).toMatchObject({ total: 2 });
  expect(await live.stats.read('package')).toMatchObject({ total: 1, limitReached: 1 });
});

it.each([
  ['was lost on its way', () => (going = away)],
  ['came there and the answer was lost', () => (coming = away)],
])('counts each poll once when a flush %s', async (_, breakIt) => {
  breakIt();
  recorder.countSucceeded('realname', 100, CARRIER);
  await expect(recorder.runOnce()).rejects.toThrow('away');
  recorder.countSucceeded('realname', 100, CARRIER);
  recorder.countSucceeded('realname', 100, CARRIER);
  await expect(recorder.runOnce()).rejects.toThrow('away');
  going = () => {};
  coming = () => {};
  await recorder.runOnce();
  expect(await live.stats.read('realname'), 'what was counted first').toMatchObject({ succeeded: 1 });
  await recorder.runOnce();
  expect(await live.stats.read('realname'), 'and what came meanwhile').toMatchObject({ succeeded: 3 });
  expect(sent.map(({ flushNumber }) => flushNumber)).toEqual([1, 1, 1, 2]);
});

it('sends what it holds when it stops: what did not come through, then what came since', async () => {
  going = away;
  recorder.countSucceeded('package', 100, CARRIER);
  await expect(recorder.runOnce()).rejects.toThrow('away');
  recorder.countSucceeded('package', 100, CARRIER);
  going = () => {};
  await recorder.stop();
  expect(await live.stats.read('package')).toMatchObject({ succeeded: 2 });
});

it('sends the counts of all other types where those of one do not come through, also when it stops', async () => {
  const realnameAway = (taskType: TaskType) => {
    if (taskType === 'realname') away();
  };
  going = realnameAway;
  for (const taskType of TASK_TYPES) recorder.countSucceeded(taskType, 100, CARRIER);
  await expect(recorder.runOnce()).rejects.toThrow('away');
  expect(await live.stats.read('package')).toMatchObject({ succeeded: 1 });
  for (const taskType of TASK_TYPES) recorder.countSucceeded(taskType, 100, CARRIER);
  await expect(recorder.stop()).rejects.toThrow('away');
  expect(await live.stats.read('realname')).toMatchObject({ succeeded: 0 });
  expect(await live.stats.read('carddata')).toMatchObject({ succeeded: 2 });
  expect(await live.stats.read('package')).toMatchObject({ succeeded: 2 });
});

it('sends twice a second, whatever was noted', async () => {
  await recorder.start();
  await clock.run(1);
  recorder.countFailed('realname', 100, 'timeout', CARRIER);
  for (const what of ['timeouts', 'backpressure', 'limitReached'] as const) recorder.note('realname', what);
  await clock.run(FLUSH_EVERY_MS - 2);
  expect(sent).toEqual([]);
  await clock.run(1);
  expect(sent).toHaveLength(1);
  await recorder.stop();
});

it('counts by carrier what ended and what began late, of the schedule alone', async () => {
  const items = [{ lane: 'manual' }, { lane: 'schedule' }, { lane: 'retry' }, { lane: 'schedule' }] as const;
  recorder.noteClaim({ items, lateMs: [9_000, 500] });
  clock.advance(1_001);
  for (const item of items) recorder.countBegun('package', item, CARRIER, 60_000);
  recorder.countSucceeded('package', 5, CARRIER);
  recorder.countFailed('package', 5, 'timeout', CARRIER);
  recorder.countFailed('package', 5, 'held', CARRIER);
  await recorder.runOnce();
  const slots = await live.stats.carrierSlots('package', [carrierSlotAt(clock.now())]);
  expect([...slots.values()]).toEqual([new Map([[CARRIER, { polls: 2, failed: 1, timed: 2, late: 1 }]])]);
});

// History at the operations: how far back which steps reach, and the success rate that samples do not hold.

import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskSample } from '../../../../src/domain/stats/history.ts';
import { perTaskType } from '../../../../src/domain/task-type.ts';
import { HistoryOperations } from '../../../../src/operations/stats/history.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const SAMPLE: TaskSample = {
  ratePerSecond: 8,
  failedPerSecond: 2,
  p50Ms: 10,
  p95Ms: 20,
  queueLength: 5,
  inFlight: 1,
  backoff: 3,
  manualLength: 4,
  effectiveConcurrency: 6,
  maxConcurrency: 7,
};
const MINUTE_MS = 60_000;

let clock: FakeClock;
let live: LiveStore;
let history: HistoryOperations;

beforeEach(() => {
  clock = new FakeClock();
  live = openLimitedLiveStore({ clock });
  history = new HistoryOperations({ live });
});

const sampleAt = (ageMs: number, over: Partial<TaskSample> = {}) => ({
  atMs: clock.now() - ageMs,
  tasks: perTaskType((taskType) => ({ ...SAMPLE, ...(taskType === 'package' ? over : {}) })),
});
const agesOf = (items: readonly { readonly at: Date }[]) => items.map(({ at }) => clock.now() - at.getTime());

it('is empty where nothing was sampled', async () => {
  expect(await history.read(5)).toEqual({ stepSeconds: 1, items: [] });
  expect(await history.read(60)).toEqual({ stepSeconds: 60, items: [] });
});

it('the history of a quarter of an hour comes in seconds, of more in minutes, the oldest first', async () => {
  for (const ageMs of [1_000, 14 * MINUTE_MS, 5 * MINUTE_MS])
    await live.history.save('second', sampleAt(ageMs));
  for (const minutes of [1, 20, 3]) await live.history.save('minute', sampleAt(minutes * MINUTE_MS));
  const seconds = await history.read(15);
  expect([seconds.stepSeconds, agesOf(seconds.items)]).toEqual([1, [14 * MINUTE_MS, 5 * MINUTE_MS, 1_000]]);
  const minutes = await history.read(16);
  expect([minutes.stepSeconds, agesOf(minutes.items)]).toEqual([60, [3 * MINUTE_MS, MINUTE_MS]]);
  expect(agesOf((await history.read(5)).items), 'the first moment included').toEqual([5 * MINUTE_MS, 1_000]);
});

it('leaves out what is dated in the future, from before the clock was set back', async () => {
  for (const ageMs of [-2 * MINUTE_MS, 1_000]) await live.history.save('second', sampleAt(ageMs));
  for (const minutes of [-300, 1]) await live.history.save('minute', sampleAt(minutes * MINUTE_MS));
  expect(agesOf((await history.read(15)).items)).toEqual([1_000]);
  expect(agesOf((await history.read(600)).items)).toEqual([MINUTE_MS]);
});

it('gives every task type its numbers', async () => {
  await live.history.save('second', sampleAt(0, { queueLength: 99 }));
  const { items } = await history.read(1);
  expect(items).toEqual([
    {
      at: new Date(clock.now()),
      tasks: [
        { taskType: 'realname', ...SAMPLE, successRate: 75 },
        { taskType: 'carddata', ...SAMPLE, successRate: 75 },
        { taskType: 'package', ...SAMPLE, queueLength: 99, successRate: 75 },
      ],
    },
  ]);
});

describe('the success rate', () => {
  it.each<[Partial<TaskSample>, number | null]>([
    [{ ratePerSecond: 3, failedPerSecond: 1 }, 66.66],
    [{ ratePerSecond: 3, failedPerSecond: 0 }, 100],
    [{ ratePerSecond: 3, failedPerSecond: 3 }, 0],
    [{ ratePerSecond: 0, failedPerSecond: 0 }, null],
    [{ ratePerSecond: null, failedPerSecond: 0 }, null],
    [{ ratePerSecond: 3, failedPerSecond: null }, null],
  ])('the success rate of %j is %s %%', async (over, successRate) => {
    await live.history.save('second', sampleAt(0, over));
    expect((await history.read(1)).items[0]?.tasks[2]).toMatchObject({ ...over, successRate });
  });
});

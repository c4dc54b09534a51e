import { describe, expect, it } from 'vitest';
import type { LimitedCounts } from '../../../src/operations/concurrency.ts';
import { queueStatsOf, taskStatsOf } from '../../../src/operations/task-stats.ts';
import type { RingState, StatsReading } from '../../../src/store/live-store.ts';

const NOW_MS = 1_800_000_000_000;

const counts: LimitedCounts = {
  taskType: 'carddata',
  queueLength: 30,
  due: 10,
  inFlight: 3,
  manualLength: 2,
  maxConcurrency: 7,
};

function ring(changes: Partial<RingState>): RingState {
  return {
    configId: 1,
    taskType: 'carddata',
    enabled: true,
    generation: 1,
    members: 1_000,
    building: null,
    buckets: 64,
    intervalMs: 64_000,
    anchorMs: NOW_MS - 100_000,
    cursor: 100,
    ...changes,
  };
}

function reading(succeeded: number, failed: number, durationMs: number): StatsReading {
  return {
    total: 1_000,
    succeeded: 900,
    failed: 100,
    window: { succeeded, failed, durationMs, seconds: 300 },
  };
}

describe('queueStatsOf', () => {
  it('sums the members of the rings of its own type', () => {
    const rings = [ring({}), ring({ configId: 2, members: 5 }), ring({ taskType: 'package', members: 99 })];
    expect(queueStatsOf(counts, rings, NOW_MS)).toMatchObject({
      scheduledCards: 1_005,
      queueLength: 30,
      due: 10,
    });
  });

  it('tells how far the slowest enabled ring is behind', () => {
    const rings = [
      ring({ cursor: 100 }),
      ring({ configId: 2, cursor: 58 }),
      ring({ configId: 3, cursor: 70 }),
    ];
    expect(queueStatsOf(counts, rings, NOW_MS).scheduleLagSeconds).toBe(42);
  });

  it.each([
    ['ahead of its time', ring({ cursor: 150 })],
    ['disabled', ring({ enabled: false, cursor: 0 })],
    ['never built', ring({ generation: 0, buckets: 0, cursor: 0 })],
    ['of another type', ring({ taskType: 'realname', cursor: 0 })],
  ])('counts no lag for a ring that is %s', (_why, late) => {
    expect(queueStatsOf(counts, [late], NOW_MS).scheduleLagSeconds).toBe(0);
  });

  it('gives running tasks in percent of the limit', () => {
    expect(queueStatsOf(counts, [], NOW_MS).concurrency).toEqual({
      current: 3,
      max: 7,
      usagePercent: 42.86,
    });
  });
});

describe('taskStatsOf', () => {
  const queue = queueStatsOf(counts, [], NOW_MS);

  it('takes rate, success and duration from the window and the totals from the start of counting', () => {
    expect(taskStatsOf(queue, reading(285, 15, 60_000))).toMatchObject({
      total: 1_000,
      succeeded: 900,
      failed: 100,
      successRate: 95,
      avgDurationMs: 200,
      ratePerSecond: 1,
      health: 'warning',
    });
  });

  it('has no success rate and no duration without a sample', () => {
    const stats = taskStatsOf(queue, reading(0, 0, 0));
    expect(stats).toMatchObject({
      successRate: null,
      avgDurationMs: null,
      ratePerSecond: 0,
      health: 'normal',
    });
  });

  it('judges health before rounding', () => {
    const stats = taskStatsOf(queue, reading(8_999_999, 1_000_001, 0));
    expect(stats).toMatchObject({ successRate: 90, health: 'alert' });
  });
});

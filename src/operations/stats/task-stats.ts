// One task type in numbers: computes the reports for operators from the counts of the live store. Used by stats.ts.
// Pure; reads no store and no clock. Every derived number of a task type (schedule lag, rate ...) is defined only here,
// except for the numbers that alert rules use too, which are in domain/stats/task-metrics.ts.

import { outlyingCarriersOf } from '../../domain/results/failing-carriers.ts';
import { rounded, roundedOrNull } from '../../domain/rounded.ts';
import { schedulePaceOf } from '../../domain/schedule/schedule-pace.ts';
import { percentileOf } from '../../domain/stats/durations.ts';
import { pollRatesOf } from '../../domain/stats/task-metrics.ts';
import type { StatsReading } from '../../store/ports/live/poll-stats.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import { healthOfReasons, type TaskHealthInputs, taskReasons } from '../health/health-reasons.ts';
import { type Capacity, capacityOf, roundedCapacity } from '../limits/capacity.ts';
import type { LimitedCounts } from '../limits/concurrency.ts';
import type { QueueStats, TaskStats } from './stats-report.ts';

/** Its capacity has the remedy too, which the fleet's advice is made of. */
export interface MeasuredTask extends TaskStats {
  readonly capacity: Capacity;
}

/** Facts about a task type in addition to its own numbers. */
type TaskSurroundings = Pick<
  TaskHealthInputs,
  'pauses' | 'breakers' | 'unconfirmedStops' | 'limitReason' | 'since'
>;

/** @param rings the rings of all task types */
export function queueStatsOf(counts: LimitedCounts, rings: readonly RingState[], nowMs: number): QueueStats {
  const { taskType, queueLength, due, backoff, inFlight, manualLength, maxConcurrency } = counts;
  const own = rings.filter((ring) => ring.taskType === taskType);
  return {
    taskType,
    queueLength,
    due,
    backoff,
    inFlight,
    manualLength,
    ...schedulePaceOf(own, nowMs),
    effectiveConcurrency: counts.effectiveConcurrency,
    concurrency: {
      current: inFlight,
      max: maxConcurrency,
      usagePercent: rounded((100 * inFlight) / maxConcurrency),
    },
  };
}

export function taskStatsOf(
  queue: QueueStats,
  reading: StatsReading,
  surroundings: TaskSurroundings,
): MeasuredTask {
  const { window, recent } = reading;
  const { successRate, avgDurationMs } = pollRatesOf(window);
  const { taskType, effectiveConcurrency, concurrency } = queue;
  const capacity = capacityOf({
    taskType,
    demandPerSecond: queue.demandPerSecond,
    owedCards: queue.due + queue.manualLength + queue.overdueCards,
    maxConcurrency: concurrency.max,
    effectiveConcurrency,
    avgDurationMs,
  });
  // Judged before rounding, so that 89.999 % does not count as 90 %.
  const healthReasons = taskReasons({
    ...queue,
    ...surroundings,
    successRate,
    avgDurationMs,
    concurrencyPercent: (100 * concurrency.current) / concurrency.max,
    recentPolls: recent.polls,
    maxConcurrency: concurrency.max,
    failedBy: window.reasons,
    outlyingCarriers: outlyingCarriersOf(window),
    drainSeconds: capacity.drainSeconds,
    remedy: capacity.remedy,
  });
  return {
    ...queue,
    total: reading.total,
    succeeded: reading.succeeded,
    failed: reading.failed,
    successRate: roundedOrNull(successRate),
    avgDurationMs: roundedOrNull(avgDurationMs),
    p50Ms: roundedOrNull(percentileOf(window.durations, 0.5)),
    p95Ms: roundedOrNull(percentileOf(window.durations, 0.95)),
    ratePerSecond: rounded((window.succeeded + window.failed) / window.seconds),
    ratePerSecond_10s: rounded(recent.polls / recent.seconds),
    capacity: roundedCapacity(capacity),
    health: healthOfReasons(healthReasons),
    healthReasons,
  };
}

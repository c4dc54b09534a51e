// One task type in numbers: turns what the live store counts into what operators read. Used by stats.ts. Pure; reads
// no store and no clock. Every derived number of a task type (schedule lag, rate ...) is defined here only; those that
// alert rules judge too are domain/stats/task-metrics.ts.

import type { Health } from '../../domain/health.ts';
import { outlyingCarriersOf } from '../../domain/results/failing-carriers.ts';
import { rounded, roundedOrNull } from '../../domain/rounded.ts';
import { type SchedulePace, schedulePaceOf } from '../../domain/schedule/schedule-pace.ts';
import { percentileOf } from '../../domain/stats/durations.ts';
import { pollRatesOf } from '../../domain/stats/task-metrics.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { StatsReading } from '../../store/ports/live/poll-stats.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import {
  type HealthReason,
  healthOfReasons,
  type TaskHealthInputs,
  taskReasons,
} from '../health/health-reasons.ts';
import { type Capacity, capacityOf, roundedCapacity } from '../limits/capacity.ts';
import type { LimitedCounts } from '../limits/concurrency.ts';

interface ConcurrencyUsage {
  /** Gateway calls in flight, fleet-wide. */
  readonly current: number;
  readonly max: number;
  readonly usagePercent: number;
}

/** Queue state of one task type (contract, "Fields"). */
export interface QueueStats extends SchedulePace {
  readonly taskType: TaskType;
  /** Due and running. */
  readonly queueLength: number;
  readonly due: number;
  /** Cards whose last poll failed and that wait for a retry. */
  readonly backoff: number;
  readonly inFlight: number;
  readonly manualLength: number;
  readonly concurrency: ConcurrencyUsage;
  /** The limit in force; below `concurrency.max` while the leader lowered it. */
  readonly effectiveConcurrency: number;
}

export interface TaskStats extends QueueStats {
  /** Since start of counting, as `succeeded` and `failed`. */
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Percent over the last five minutes; null without a poll in them. */
  readonly successRate: number | null;
  /** Milliseconds over the last five minutes; null without a poll in them. */
  readonly avgDurationMs: number | null;
  /** Milliseconds that half, and 95 %, of the polls of the last five minutes took at most; null without a poll in them. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Polls a second over the last five minutes. */
  readonly ratePerSecond: number;
  /** Polls a second over the last ten to twenty seconds: what happens now. */
  readonly ratePerSecond_10s: number;
  readonly capacity: Capacity;
  readonly health: Health;
  /** Why it is not normal, the worst first. */
  readonly healthReasons: readonly HealthReason[];
}

/** What tells of a task type beside its own numbers. */
type TaskSurroundings = Pick<
  TaskHealthInputs,
  'pauses' | 'breakers' | 'unconfirmedStops' | 'limitReason' | 'since'
>;

/** @param rings of all task types. */
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
): TaskStats {
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
  // Judged before rounding, so that 89.999 % does not pass as 90 %.
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

// One task type in numbers: turns what the live store counts into what operators read. Used by stats.ts. Pure; reads
// no store and no clock. Every derived number of a task type (schedule lag, rate ...) is defined here only; those that
// alert rules judge too are domain/task-metrics.ts.
import { type Health, healthOf } from '../domain/health.ts';
import { dueAt } from '../domain/phase.ts';
import { pollRatesOf } from '../domain/task-metrics.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { RingState, StatsReading } from '../store/live-store.ts';
import type { LimitedCounts } from './concurrency.ts';

export interface ConcurrencyUsage {
  /** Gateway calls in flight, fleet-wide. */
  readonly current: number;
  readonly max: number;
  readonly usagePercent: number;
}

/** Queue state of one task type (03, "Fields"). */
export interface QueueStats {
  readonly taskType: TaskType;
  /** Due, in retry and running. */
  readonly queueLength: number;
  readonly due: number;
  readonly inFlight: number;
  readonly manualLength: number;
  /** Cards that the polling configs of the type hold, disabled ones included. */
  readonly scheduledCards: number;
  /** How far the schedule of the enabled configs is behind; 0 while it keeps up. */
  readonly scheduleLagSeconds: number;
  readonly concurrency: ConcurrencyUsage;
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
  /** Polls a second over the last five minutes. */
  readonly ratePerSecond: number;
  readonly health: Health;
}

/** @param rings of all task types. */
export function queueStatsOf(counts: LimitedCounts, rings: readonly RingState[], nowMs: number): QueueStats {
  const own = rings.filter((ring) => ring.taskType === counts.taskType);
  return {
    taskType: counts.taskType,
    queueLength: counts.queueLength,
    due: counts.due,
    inFlight: counts.inFlight,
    manualLength: counts.manualLength,
    scheduledCards: own.reduce((sum, ring) => sum + ring.members, 0),
    scheduleLagSeconds: Math.max(0, ...own.map((ring) => lagMsOf(ring, nowMs))) / 1000,
    concurrency: {
      current: counts.inFlight,
      max: counts.maxConcurrency,
      usagePercent: rounded((100 * counts.inFlight) / counts.maxConcurrency),
    },
  };
}

export function taskStatsOf(queue: QueueStats, reading: StatsReading): TaskStats {
  const { window } = reading;
  const polls = window.succeeded + window.failed;
  const { successRate, avgDurationMs } = pollRatesOf(window);
  return {
    ...queue,
    total: reading.total,
    succeeded: reading.succeeded,
    failed: reading.failed,
    successRate: successRate === null ? null : rounded(successRate),
    avgDurationMs: avgDurationMs === null ? null : rounded(avgDurationMs),
    ratePerSecond: window.seconds > 0 ? rounded(polls / window.seconds) : 0,
    // Judged before rounding, so that 89.999 % does not pass as 90 %.
    health: healthOf({
      queueLength: queue.queueLength,
      successRate,
      avgDurationMs,
      concurrencyPercent: (100 * queue.concurrency.current) / queue.concurrency.max,
    }),
  };
}

/** Milliseconds since the bucket under the cursor was due. A ring that is off or was never built owes nothing. */
function lagMsOf(ring: RingState, nowMs: number): number {
  if (!ring.enabled || ring.generation === 0) return 0;
  return Math.round(nowMs - dueAt(ring, ring.cursor));
}

/** Two decimals: more would be noise in a table. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

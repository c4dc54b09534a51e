// One task type in numbers: computes the reports for operators from the counts of the live store. Used by stats.ts.
// Pure; reads no store and no clock. The numbers that alert rules use too are derived in fleet-reading.ts; every other one
// only here.

import { percentDown, percentileOf, rounded, roundedOrNull } from '../../domain/numbers.ts';
import { outlyingCarriersOf } from '../../domain/results/carrier-polls.ts';
import type { SchedulePace } from '../../domain/schedule/schedule-pace.ts';
import { callMsOf } from '../../domain/stats/task-metrics.ts';
import type { TaskReading } from '../../store/ports/live/fleet-reading.ts';
import { heldBackBy } from '../health/gateway-report.ts';
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
  'pauses' | 'nowMs' | 'breakers' | 'followUps' | 'stops' | 'limitReason' | 'paceShare' | 'since'
> &
  Pick<TaskStats, 'offered'> &
  Pick<TaskHealthInputs['readings'], 'stopMode'> & {
    readonly instances: Parameters<typeof heldBackBy>[0];
  };

export function queueStatsOf(
  { maxConcurrency: max, retryDue, ...counts }: LimitedCounts,
  schedule: SchedulePace,
): QueueStats {
  const { inFlight: current } = counts;
  const usagePercent = rounded((100 * current) / max);
  const demandPerSecond = rounded(schedule.demandPerSecond);
  return {
    ...counts,
    // A card whose retry is due waits for its turn in the retry lane.
    backoff: counts.backoff + retryDue,
    ...schedule,
    demandPerSecond,
    concurrency: { current, max, usagePercent },
  };
}

export function taskStatsOf(
  queue: QueueStats,
  { stats, metrics }: Pick<TaskReading, 'stats' | 'metrics'>,
  { offered, stopMode, instances, ...surroundings }: TaskSurroundings,
): MeasuredTask {
  const { window, recent } = stats;
  const { held, successRate, avgDurationMs } = metrics;
  const { held: _ours, ...failedBy } = window.reasons;
  const { taskType, effectiveConcurrency, concurrency } = queue;
  // Judged before rounding, so that 89.999 % does not count as 90 %.
  const { demandPerSecond } = metrics.schedule;
  const capacity = capacityOf({
    taskType,
    demandPerSecond,
    owedCards: queue.due + queue.manualLength + queue.overdueCards,
    maxConcurrency: concurrency.max,
    effectiveConcurrency,
    callMs: callMsOf(window),
    heldBy: heldBackBy(instances, surroundings.breakers, surroundings.pauses),
    allowedPerSecond: surroundings.paceShare?.perSecond ?? null,
  });
  const healthReasons = taskReasons({
    ...queue,
    ...surroundings,
    demandPerSecond,
    successRate,
    avgDurationMs,
    concurrencyPercent: (100 * concurrency.current) / concurrency.max,
    recentPolls: recent.polls,
    maxConcurrency: concurrency.max,
    readings: { total: window.succeeded, implausible: window.implausible, stopMode },
    polls: metrics.polls,
    held,
    failedBy,
    outlyingCarriers: outlyingCarriersOf({ ...window, failed: window.failed - held }),
    drainSeconds: capacity.drainSeconds,
    remedy: capacity.remedy,
  });
  return {
    ...queue,
    total: stats.total,
    succeeded: stats.succeeded,
    failed: stats.failed,
    held,
    successRate: successRate === null ? null : percentDown(successRate),
    avgDurationMs: roundedOrNull(avgDurationMs),
    p50Ms: roundedOrNull(percentileOf(window.durations, 0.5)),
    p95Ms: roundedOrNull(percentileOf(window.durations, 0.95)),
    polledPercent: metrics.polledPercent === null ? null : percentDown(metrics.polledPercent),
    ratePerSecond: rounded(metrics.polls / window.seconds),
    ratePerSecond_10s: rounded(recent.polls / recent.seconds),
    capacity: roundedCapacity(capacity),
    offered,
    health: healthOfReasons(healthReasons),
    healthReasons,
  };
}

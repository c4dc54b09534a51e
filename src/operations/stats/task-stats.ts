// One task type in numbers: computes the reports for operators from the counts of the live store. Used by stats.ts.
// Pure; reads no store and no clock. The numbers that alert rules use too are derived in fleet-reading.ts; every other one
// only here.

import { SUCCESS_RATE } from '../../domain/health.ts';
import {
  lowerBoundOfShare,
  ONCE_IN_40,
  percentDown,
  percentileOf,
  rounded,
  roundedOrNull,
} from '../../domain/numbers.ts';
import { outlyingCarriersOf } from '../../domain/results/carrier-polls.ts';
import type { SchedulePace } from '../../domain/schedule/schedule-pace.ts';
import { pollRatesOf, type TaskMetrics } from '../../domain/stats/task-metrics.ts';
import { slownessOf } from '../../domain/stats/usual-latency.ts';
import type { TaskReading } from '../../store/ports/live/fleet-reading.ts';
import { LATELY_POLLS, type StatsReading } from '../../store/ports/live/poll-stats.ts';
import type { LimitRecord } from '../../store/ports/live/work-queue.ts';
import { heldBackBy } from '../health/gateway-report.ts';
import { healthOfReasons, type TaskHealthInputs, taskReasons } from '../health/health-reasons.ts';
import { adviceOn } from '../limits/advisor.ts';
import { capacityOf, roundedCapacity } from '../limits/capacity.ts';
import type { LimitedCounts } from '../limits/concurrency.ts';
import type { QueueStats, TaskStats } from './stats-report.ts';

/** Facts about a task type in addition to its own numbers. */
type TaskSurroundings = Pick<
  TaskHealthInputs,
  'pauses' | 'nowMs' | 'starting' | 'breakers' | 'followUps' | 'stops' | 'paceShare' | 'since'
> &
  Pick<TaskStats, 'offered'> &
  Pick<TaskHealthInputs['readings'], 'stopMode'> & {
    readonly instances: Parameters<typeof heldBackBy>[0];
    /** What the leader knows about its limit; null: nothing yet. */
    readonly limit: LimitRecord | null;
  };

/**
 * The polls that success is judged by: those of the last seconds, but those of five minutes where the last ones are few, or look
 * worse, and chance explains the difference.
 */
function judgedSlot({ lately, window }: StatsReading, { successRate }: TaskMetrics): StatsReading['window'] {
  const { held, successRate: share } = pollRatesOf(lately);
  const polls = lately.succeeded + lately.failed - held;
  const percent = share ?? 100;
  const before = successRate ?? 100;
  const isWorse = 100 * lowerBoundOfShare(1 - percent / 100, polls) > 100 - SUCCESS_RATE.normalAbove;
  const isBetter = 100 * lowerBoundOfShare(percent / 100, polls, ONCE_IN_40) > before;
  const isEnough = polls >= LATELY_POLLS && percent >= before;
  return isWorse || isBetter || isEnough ? lately : window;
}

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
  { offered, stopMode, instances, limit, ...surroundings }: TaskSurroundings,
): TaskStats {
  const { window, recent } = stats;
  const { now, held, successRate, avgDurationMs } = metrics;
  const judged = judgedSlot(stats, metrics);
  const rates = pollRatesOf(judged);
  const read = now.polls < LATELY_POLLS ? window : stats.now;
  const { held: _ours, ...failedBy } = judged.reasons;
  const { taskType, effectiveConcurrency, concurrency } = queue;
  // Judged before rounding, so that 89.999 % does not count as 90 %.
  const { demandPerSecond } = metrics.schedule;
  const capacity = capacityOf({
    demandPerSecond,
    owedCards: queue.due + queue.manualLength + queue.overdueCards,
    effectiveConcurrency,
    callMs: now.callMs,
    heldBy: heldBackBy(instances, surroundings.breakers, surroundings.pauses),
    allowedPerSecond: surroundings.paceShare?.perSecond ?? null,
  });
  const usual = limit?.usual ?? null;
  const slowness = slownessOf(now, usual);
  const advice = adviceOn({
    taskType,
    capacity,
    callMs: now.callMs,
    maxConcurrency: concurrency.max,
    effectiveConcurrency,
    limitReason: limit?.reason ?? null,
    isTrying: limit?.trying === true,
    slowness,
    curve: limit?.curve ?? [],
  });
  const healthReasons = taskReasons({
    ...queue,
    ...surroundings,
    demandPerSecond,
    ...rates,
    // Few polls that are slow may be chance, and five minutes that were slow are over when the last polls are not.
    avgDurationMs: now.polls < LATELY_POLLS ? lesser(now.avgDurationMs, avgDurationMs) : now.avgDurationMs,
    concurrencyPercent: (100 * concurrency.current) / concurrency.max,
    recentPolls: recent.polls,
    maxConcurrency: concurrency.max,
    readings: { total: read.succeeded, seconds: read.seconds, implausible: read.implausible, stopMode },
    polls: judged.succeeded + judged.failed,
    judgedSeconds: judged.seconds,
    present: { successRate: pollRatesOf(stats.lately).successRate, seconds: stats.lately.seconds },
    failedBy,
    outlyingCarriers: outlyingCarriersOf({ ...window, failed: window.failed - held }),
    drainSeconds: capacity.drainSeconds,
    advice,
    limit,
    slowness,
    durations: stats.now.durations,
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
    successRate_10s: now.successRate === null ? null : percentDown(now.successRate),
    avgDurationMs_10s: roundedOrNull(now.avgDurationMs),
    p50Ms_10s: roundedOrNull(now.p50Ms),
    p95Ms_10s: roundedOrNull(now.p95Ms),
    usualDurationMs: roundedOrNull(usual?.meanMs ?? null),
    capacity: roundedCapacity(capacity),
    advice,
    offered,
    health: healthOfReasons(healthReasons),
    healthReasons,
  };
}

function lesser(one: number | null, other: number | null): number | null {
  return one === null || other === null ? other : Math.min(one, other);
}

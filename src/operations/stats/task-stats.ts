// One task type in numbers: the reports for operators, from what health judged (src/health/task-judge.ts). Used by stats.ts.
// Pure; reads no store and no clock.
import { percentDown, percentileOf, rounded, roundedOrNull } from '../../domain/numbers.ts';
import type { SchedulePace } from '../../domain/schedule/schedule-pace.ts';
import { roundedCapacity } from '../../health/capacity.ts';
import { healthOfReasons } from '../../health/health-reasons.ts';
import type { LimitedCounts, TaskJudgement } from '../../health/task-judge.ts';
import type { QueueStats, TaskStats } from '../../resources/stats.ts';

export function queueStatsOf(
  { maxConcurrency: max, retryDue, leaderLimit: _, inForce: __, waitedMs: ___, ...counts }: LimitedCounts,
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
  { counts, stats, metrics, capacity, advice, usualMs, reasons }: TaskJudgement,
  offered: boolean,
): TaskStats {
  const { window, recent } = stats;
  const { now, held, successRate, avgDurationMs } = metrics;
  return {
    ...queueStatsOf(counts, metrics.schedule),
    total: stats.total,
    succeeded: stats.succeeded,
    failed: stats.failed,
    durationMs: rounded(stats.durationMs),
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
    usualDurationMs: roundedOrNull(usualMs),
    capacity: roundedCapacity(capacity),
    advice,
    offered,
    health: healthOfReasons(reasons),
    healthReasons: reasons,
  };
}

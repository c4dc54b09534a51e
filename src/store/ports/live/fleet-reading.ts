// One reading of the live store's counts, for all users: alert rules, statistics and history. Derived numbers are computed here
// once, so they always agree.
import { schedulePaceOf } from '../../../domain/schedule/schedule-pace.ts';
import {
  polledPercentOf,
  pollRatesOf,
  presentMetricsOf,
  type TaskMetrics,
} from '../../../domain/stats/task-metrics.ts';
import { askPerTaskType, perTaskType, type TaskType } from '../../../domain/task-type.ts';
import type { LiveStore } from './live-store.ts';
import type { StatsReading } from './poll-stats.ts';
import type { RingState } from './rings.ts';
import type { QueueCounts } from './work-queue.ts';

export interface TaskReading {
  readonly counts: QueueCounts;
  readonly stats: StatsReading;
  readonly metrics: TaskMetrics;
}

export type FleetReading = Readonly<Record<TaskType, TaskReading>>;

/** By the live store's clock, which dates the rings. @throws CardpollError `unavailable` when it does not answer. */
export async function readFleet(
  live: Pick<LiveStore, 'work' | 'stats' | 'rings' | 'now'>,
): Promise<FleetReading> {
  // Queried in parallel: a slow live store then takes the time of one query.
  const [all, nowMs, counted] = await Promise.all([
    live.rings.list(),
    live.now(),
    askPerTaskType((taskType) => Promise.all([live.work.counts(taskType), live.stats.read(taskType)])),
  ]);
  return perTaskType((taskType) => {
    const own = all.filter((ring) => ring.taskType === taskType);
    return readingOf(...counted[taskType], own, nowMs);
  });
}

/** @param rings of the task type that was counted. */
export function readingOf(
  counts: QueueCounts,
  stats: StatsReading,
  rings: readonly RingState[],
  nowMs: number,
): TaskReading {
  const { window, recent, now } = stats;
  const pace = schedulePaceOf(rings, nowMs, waitMsOf(counts, stats));
  // In a pause the rings keep up, but their cards wait in the queue.
  const scheduleLagSeconds = Math.max(pace.scheduleLagSeconds, counts.waitedMs / 1000);
  const schedule = { ...pace, scheduleLagSeconds };
  const owed = { due: counts.due + schedule.overdueCards, failed: counts.retryDue + counts.backoff };
  const metrics = {
    queueLength: counts.queueLength,
    polls: window.succeeded + window.failed,
    ...pollRatesOf(window),
    polledPercent: polledPercentOf(recent, schedule.demandPerSecond, owed),
    schedule,
    now: presentMetricsOf(now),
  };
  return { counts, stats, metrics };
}

/** Fewer waiting cards than this are normal while none is polled: some fleets poll only a few cards an hour. */
const FEW_CARDS = 10;

/**
 * How long a card that comes due now will wait, milliseconds: the cards that are due before it, at the current rate. null: no
 * cards are polled, so the wait is unknown.
 */
export function waitMsOf(
  { due }: Pick<QueueCounts, 'due'>,
  { recent }: Pick<StatsReading, 'recent'>,
): number | null {
  if (recent.polls > 0) return (1000 * due * recent.seconds) / recent.polls;
  return due < FEW_CARDS ? 0 : null;
}

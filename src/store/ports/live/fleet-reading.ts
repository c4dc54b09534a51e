// One reading of what the live store counts, for everything that judges, samples or shows the fleet: alert rules,
// statistics and history. Derived numbers are computed here once, so that no two of them disagree.
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
  // All at once: a slow live store answers in the time of one question.
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
  // In a pause the rings keep up, and their cards wait.
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

/** Fewer cards than this may wait while none is polled: a fleet polls a few cards an hour as well. */
const FEW_CARDS = 10;

/**
 * How long a card waits that comes due now: the cards that are due before it, at the present rate, in milliseconds.
 * null: none is polled, so no one knows.
 */
export function waitMsOf(
  { due }: Pick<QueueCounts, 'due'>,
  { recent }: Pick<StatsReading, 'recent'>,
): number | null {
  if (recent.polls > 0) return (1000 * due * recent.seconds) / recent.polls;
  return due < FEW_CARDS ? 0 : null;
}

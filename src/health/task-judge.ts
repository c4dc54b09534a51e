// One task type, judged: its capacity, what the advisor says of its limit, and why it is not normal. Used by fleet-health.ts.
// Pure; reads no store and no clock. The numbers that alert rules use too are derived in fleet-reading.ts.
import { SUCCESS_RATE } from '../domain/health.ts';
import { lowerBoundOfShare, ONCE_IN_40 } from '../domain/numbers.ts';
import { outlyingCarriersOf, slowCarriersOf } from '../domain/results/carrier-polls.ts';
import type { GrowthHistory } from '../domain/results/usage-growth.ts';
import { stillMinutes } from '../domain/results/usage-still.ts';
import { isOwnSideWell } from '../domain/stats/own-side.ts';
import { pollRatesOf, type TaskMetrics } from '../domain/stats/task-metrics.ts';
import { slownessOf } from '../domain/stats/usual-latency.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { TaskReading } from '../store/ports/live/fleet-reading.ts';
import { LATELY_POLLS, type StatsReading } from '../store/ports/live/poll-stats.ts';
import type { LimitRecord, QueueCounts } from '../store/ports/live/work-queue.ts';
import { adviceOn } from './advisor.ts';
import { capacityOf } from './capacity.ts';
import { heldBackBy } from './gateway-report.ts';
import { type TaskHealthInputs, type TaskSurroundings, taskReasons } from './health-reasons.ts';

/** Counts of one task type with the durable limit where none is in force yet. */
export type LimitedCounts = QueueCounts & { readonly taskType: TaskType; readonly maxConcurrency: number };
type LimitedReading = TaskReading & { readonly counts: LimitedCounts };

interface JudgedBy extends TaskSurroundings, Pick<TaskHealthInputs['readings'], 'stopMode'> {
  readonly instances: Parameters<typeof heldBackBy>[1] & Parameters<typeof isOwnSideWell>[0];
  /** Carriers of which no card is polled now. */
  readonly maintained: readonly number[];
  /** What the leader knows about its limit; null: nothing yet. */
  readonly limit: LimitRecord | null;
  /** Of usage; null: not known, or the task type reads none. */
  readonly growth: GrowthHistory | null;
}

export type TaskJudgement = ReturnType<typeof judgeTask>;

export function judgeTask(
  reading: LimitedReading,
  { stopMode, instances, limit, growth, maintained, ...surroundings }: JudgedBy,
) {
  const { counts, stats, metrics } = reading;
  const { window, recent } = stats;
  const { now, held, avgDurationMs, schedule } = metrics;
  const judged = judgedSlot(stats, metrics);
  const read = now.polls < LATELY_POLLS ? window : stats.now;
  const { held: _ours, ...failedBy } = judged.reasons;
  const { taskType, inFlight, effectiveConcurrency, maxConcurrency } = counts;
  // Before rounding, so that 89.999 % does not count as 90 %.
  const { demandPerSecond } = schedule;
  const capacity = capacityOf({
    demandPerSecond,
    owedCards: counts.due + counts.manualLength + schedule.overdueCards,
    effectiveConcurrency,
    callMs: now.callMs,
    heldBy: heldBackBy(counts.taskType, instances, surroundings.breakers, surroundings.pauses),
    allowedPerSecond: surroundings.paceShare?.perSecond ?? null,
  });
  const usual = limit?.usual ?? null;
  // What calls take says nothing about the gateway while our own side is slow.
  const isOwnWell = isOwnSideWell(instances);
  const slowness = isOwnWell ? slownessOf(now, usual) : null;
  const advice = adviceOn({
    taskType,
    capacity,
    callMs: now.callMs,
    maxConcurrency,
    effectiveConcurrency,
    limitReason: limit?.reason ?? null,
    isTrying: limit?.trying === true,
    slowness,
    curve: limit?.curve ?? [],
  });
  const reasons = taskReasons({
    ...counts,
    ...schedule,
    ...surroundings,
    ...pollRatesOf(judged),
    // Without an instance nothing is polled anyway, which is a reason of its own.
    inForce: counts.inForce || instances.length === 0,
    // Few polls that are slow may be chance, and five minutes that were slow are over when the last polls are not.
    avgDurationMs: now.polls < LATELY_POLLS ? lesser(now.avgDurationMs, avgDurationMs) : now.avgDurationMs,
    concurrencyPercent: (100 * inFlight) / maxConcurrency,
    recentPolls: recent.polls,
    readings: {
      total: read.succeeded,
      seconds: read.seconds,
      implausible: read.implausible,
      counters: read.counters,
      fallen: read.fallen,
      stillMinutes:
        growth &&
        stillMinutes(growth, surroundings.nowMs, (60 * window.succeeded) / Math.max(1, window.seconds)),
      stopMode,
    },
    polls: judged.succeeded + judged.failed,
    judgedSeconds: judged.seconds,
    present: { successRate: pollRatesOf(stats.lately).successRate, seconds: stats.lately.seconds },
    failedBy,
    // What failed before a maintenance began is not news.
    outlyingCarriers: outlyingCarriersOf({ ...window, failed: window.failed - held }).filter(
      ({ carrierId }) => !maintained.includes(carrierId),
    ),
    drainSeconds: capacity.drainSeconds,
    advice,
    limit,
    slowness,
    slowCarriers: isOwnWell ? slowCarriersOf(stats.now, usual) : [],
    durations: stats.now.durations,
  });
  // usualMs is what a successful poll usually takes; null: not known yet.
  const isResuming = surroundings.catching?.isFirst === true;
  return { ...reading, taskType, capacity, advice, usualMs: usual?.meanMs ?? null, isResuming, reasons };
}

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

function lesser(one: number | null, other: number | null): number | null {
  return one === null || other === null ? other : Math.min(one, other);
}

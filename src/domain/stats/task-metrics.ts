// The numbers of one task type that are judged, sampled or shown: by health, statistics, history and alert rules alike. They are
// not rounded, so that 89.999 % does not pass as 90 %; the code that shows a number rounds it. store/ports/live/fleet-reading.ts
// computes them from the counts of the live store.
import type { Counts, Durations } from '../numbers.ts';
import { percentileOf } from '../numbers.ts';
import type { SchedulePace } from '../schedule/schedule-pace.ts';

/** Counted polls over a length of time. */
export interface PollWindow {
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these. */
  readonly durationMs: number;
  /** Sum of the durations of the succeeded ones. */
  readonly succeededMs: number;
}

interface PollRates {
  /** Polls that cardpoll itself held back: they failed, but the gateway was not called. */
  readonly held: number;
  /** Percent of the polls without the held ones; null without such a poll in the window. */
  readonly successRate: number | null;
  /** Null without a poll in the window. */
  readonly avgDurationMs: number | null;
}

/** The present state: polls of the last seconds, as in StatsReading. */
export interface PresentMetrics extends PollRates {
  readonly polls: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Duration of a poll, see callMsOf. */
  readonly callMs: number | null;
  /** Mean duration of the polls that succeeded; null without one. */
  readonly succeededMs: number | null;
}

export interface TaskMetrics extends PollRates {
  readonly schedule: SchedulePace;
  /** Due and running. */
  readonly queueLength: number;
  /** Polls of the last five minutes, from which the rates are computed. */
  readonly polls: number;
  /** Share of the due polls that succeeded in the last seconds, see polledPercentOf. */
  readonly polledPercent: number | null;
  readonly now: PresentMetrics;
}

/** @param reasons kind of failure -> number of failed polls. */
export function pollRatesOf({
  succeeded,
  failed,
  durationMs,
  reasons,
}: Omit<PollWindow, 'succeededMs'> & { readonly reasons: Counts<string> }): PollRates {
  const polls = succeeded + failed;
  const { held = 0 } = reasons;
  return {
    held,
    successRate: polls === held ? null : (100 * succeeded) / (polls - held),
    avgDurationMs: polls === 0 ? null : durationMs / polls,
  };
}

/**
 * Time that a poll holds a slot, milliseconds: the mean of all polls, or of the succeeded ones if that is longer. So polls that
 * time out cost capacity, and polls that fail at once do not pretend any. null: none succeeded.
 */
export function callMsOf({ succeeded, failed, durationMs, succeededMs }: PollWindow): number | null {
  return succeeded === 0 ? null : Math.max(durationMs / (succeeded + failed), succeededMs / succeeded);
}

/** @param polls of the last seconds. */
export function presentMetricsOf(
  polls: PollWindow & { readonly reasons: Counts<string>; readonly durations: Durations },
): PresentMetrics {
  const { succeeded, failed, succeededMs, durations } = polls;
  return {
    ...pollRatesOf(polls),
    polls: succeeded + failed,
    p50Ms: percentileOf(durations, 0.5),
    p95Ms: percentileOf(durations, 0.95),
    callMs: callMsOf(polls),
    succeededMs: succeeded === 0 ? null : succeededMs / succeeded,
  };
}

/** A smaller demand gives no share: one failing card must not count as a standstill. */
const LEAST_EXPECTED = 10;

/** Cards that should have been polled successfully. */
interface OwedCards {
  /** Including those that a late schedule delays. */
  readonly due: number;
  /** Cards that failed, and are due for a retry or wait for it. */
  readonly failed: number;
}

/**
 * Share of the demand that was polled successfully, in percent; 100 when nothing more is due.
 * @param recent successful polls of the last ten to twenty seconds
 * @returns null: the demand is too small to judge
 */
export function polledPercentOf(
  recent: { readonly succeeded: number; readonly seconds: number },
  demandPerSecond: number,
  { due, failed }: OwedCards,
): number | null {
  const expected = demandPerSecond * recent.seconds;
  // If successes are less frequent than that, a few permanently failing cards would look like a standstill between two of them.
  const owedCards = expected < 1 ? due : due + failed;
  if (Math.max(expected, owedCards) < LEAST_EXPECTED) return null;
  // A schedule that keeps up owes the cards of the last second.
  if (owedCards <= demandPerSecond || demandPerSecond === 0 || recent.succeeded >= expected) return 100;
  return (100 * recent.succeeded) / expected;
}

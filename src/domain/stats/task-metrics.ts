// The numbers of one task type that are judged, sampled or shown: by health, statistics, history and alert rules alike.
// Nothing here is rounded, so that 89.999 % does not pass as 90 %; code that shows a number rounds it. Computed from
// what the live store counts, by store/ports/live/fleet-reading.ts.
import type { SchedulePace } from '../schedule/schedule-pace.ts';

/** Polls over a length of time, as they were counted. */
export interface PollWindow {
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these. */
  readonly durationMs: number;
}

/** Counts that show how the gateway bears the load. */
export interface PollCauses {
  /** Sum of the durations of the succeeded polls only. */
  readonly succeededMs: number;
  /** Number of failed polls that were answered 429 or 503. */
  readonly backpressure: number;
  /** Number of failed polls that timed out. */
  readonly timeouts: number;
}

interface PollRates {
  /** Percent; null without a poll in the window. */
  readonly successRate: number | null;
  /** Null without a poll in the window. */
  readonly avgDurationMs: number | null;
}

export interface TaskMetrics extends PollRates {
  readonly schedule: SchedulePace;
  /** Due and running. */
  readonly queueLength: number;
  /** Cards whose last poll failed and that wait for a retry. */
  readonly backoff: number;
  /** Gateway calls in flight, fleet-wide. */
  readonly inFlight: number;
  readonly manualLength: number;
  /** Polls of the last five minutes, which the rates are computed from. */
  readonly polls: number;
}

export function pollRatesOf(window: PollWindow): PollRates {
  const polls = window.succeeded + window.failed;
  if (polls === 0) return { successRate: null, avgDurationMs: null };
  return { successRate: (100 * window.succeeded) / polls, avgDurationMs: window.durationMs / polls };
}

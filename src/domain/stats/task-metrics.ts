// The metrics of a task type that are judged: by health.ts, by statistics and by alert rules alike. The only place that
// computes them. Unrounded, so that 89.999 % does not pass as 90 %; whoever shows a number rounds it.

/** Polls of a length of time, as they were counted. */
export interface PollWindow {
  readonly succeeded: number;
  readonly failed: number;
  /** Sum over all of these. */
  readonly durationMs: number;
}

/** What tells how the gateway bears the load. */
export interface PollCauses {
  /** Sum of the durations of the succeeded alone. */
  readonly succeededMs: number;
  /** How many of the failed were answered 429 or 503. */
  readonly backpressure: number;
  /** How many of the failed timed out. */
  readonly timeouts: number;
}

export interface PollRates {
  /** Percent; null without a poll in the window. */
  readonly successRate: number | null;
  /** Null without a poll in the window. */
  readonly avgDurationMs: number | null;
}

export function pollRatesOf(window: PollWindow): PollRates {
  const polls = window.succeeded + window.failed;
  if (polls === 0) return { successRate: null, avgDurationMs: null };
  return { successRate: (100 * window.succeeded) / polls, avgDurationMs: window.durationMs / polls };
}

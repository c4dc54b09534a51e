// The counts of the fleet in about one second, for one task type. Made by engine/limits/concurrency-controller.ts, judged
// by effective-limit.ts and strain-trials.ts. Pure.

/**
 * Numbers of polls and the sums of their durations in milliseconds, of all polls and of the successful ones. backpressure: polls
 * that were answered 429 or 503; timeouts: polls that timed out; both are among the failed ones.
 */
const COUNTS = ['succeeded', 'failed', 'durationMs', 'succeededMs', 'backpressure', 'timeouts'] as const;
type Count = (typeof COUNTS)[number];

/** A reading of counters that only grow. `limitReached`: claims that found the limit used up. */
type Totals = Readonly<Record<Count | 'total' | 'limitReached', number>>;

/** The counts since the previous tick. */
export interface FleetTick extends Readonly<Record<Count, number>> {
  readonly seconds: number;
  /** The limit was used up at some time during the tick. */
  readonly limitReached: boolean;
}

/** The limits and the time at a tick. */
export interface Situation {
  readonly configured: number;
  /** The limit that was in force during the tick: at most the configured one. */
  readonly inForce: number;
  /** Monotonic clock. */
  readonly nowMs: number;
  /** Average limit in force of the task types that use up their limit. */
  readonly fairLimit: number;
  /** More calls are refused than is tolerated, so the limit must not grow. */
  readonly strained: boolean;
}

/** Two ticks as one longer tick. */
export function pooled(pool: FleetTick | null, tick: FleetTick): FleetTick {
  if (pool === null) return tick;
  return {
    ...countEach((count) => pool[count] + tick[count]),
    seconds: pool.seconds + tick.seconds,
    limitReached: pool.limitReached || tick.limitReached,
  };
}

/** @returns the counts between two readings; null when the live store lost the counters. */
export function tickBetween(before: Totals, now: Totals, elapsedMs: number): FleetTick | null {
  if (elapsedMs <= 0 || now.total < before.total || now.limitReached < before.limitReached) return null;
  return {
    ...countEach((count) => now[count] - before[count]),
    seconds: elapsedMs / 1_000,
    limitReached: now.limitReached > before.limitReached,
  };
}

function countEach(read: (count: Count) => number): Record<Count, number> {
  return Object.fromEntries(COUNTS.map((count) => [count, read(count)])) as Record<Count, number>;
}

// The counts of the fleet in about one second, for one task type. Made by engine/limits/concurrency-controller.ts, judged
// by effective-limit.ts and strain-trials.ts. Pure.
import type { PollCauses } from '../stats/task-metrics.ts';

/** The counts since the previous tick. */
export interface FleetTick extends PollCauses {
  readonly seconds: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these, milliseconds. */
  readonly durationMs: number;
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
    seconds: pool.seconds + tick.seconds,
    succeeded: pool.succeeded + tick.succeeded,
    failed: pool.failed + tick.failed,
    durationMs: pool.durationMs + tick.durationMs,
    succeededMs: pool.succeededMs + tick.succeededMs,
    backpressure: pool.backpressure + tick.backpressure,
    timeouts: pool.timeouts + tick.timeouts,
    limitReached: pool.limitReached || tick.limitReached,
  };
}

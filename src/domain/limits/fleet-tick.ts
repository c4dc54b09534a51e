// What the fleet counted in about a second, for one task type: what the effective limit is judged from. Made by
// engine/limits/concurrency-controller.ts, judged by effective-limit.ts. Pure.
import type { PollCauses } from '../stats/task-metrics.ts';

/** What the fleet counted since the tick before. */
export interface FleetTick extends PollCauses {
  readonly seconds: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these, milliseconds. */
  readonly durationMs: number;
  /** The limit was used up at some moment. */
  readonly limitReached: boolean;
}

/** What a tick is judged in. */
export interface Situation {
  readonly configured: number;
  /** The limit that was in force during the tick: at most the configured one. */
  readonly inForce: number;
  /** Monotonic. */
  readonly nowMs: number;
  /** Average of the limits in force of the task types that use theirs up. */
  readonly fairLimit: number;
  /** More calls are refused than is tolerated: no time to grow. */
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

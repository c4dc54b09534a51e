// How a simulated gateway behaves (gateway/simulate/simulated-gateway.ts), for `cardpoll gateway simulate`, the demo, tests and benches.

export interface SimulatedBehaviour {
  /** Serves this many different cards, in the order of their first call; others are unknown. Absent: any number. */
  readonly cards?: number;
  /** Milliseconds between receiving a call and answering it; default 0, with a capacity 20. */
  readonly latencyMs?: number;
  /** Share of calls answered 500, 0 to 1; default 0. */
  readonly failureRate?: number;
  /** Calls beyond this many in flight are answered 429 with Retry-After: 1; default: no limit. */
  readonly maxConcurrency?: number;
  /**
   * Concurrent calls at full speed. Beyond that every call takes longer, latency times calls in flight / capacity, so the
   * rate stays constant; beyond twice the capacity calls are answered 429. Default: no limit.
   */
  readonly capacity?: number;
  /** Share of flow reads that show new usage; default 0.2. */
  readonly changeRate?: number;
  /** One card in this many fails every call; default: none. */
  readonly failingOneIn?: number;
  /** One card in this many is answered ten times later, if there is a latency; default: none. */
  readonly slowOneIn?: number;
  /** Seed of the random failures; default 1. */
  readonly seed?: number;
}

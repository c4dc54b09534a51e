// Time as a dependency, so that rules about time are tested without waiting.

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Never goes back; milliseconds from an arbitrary start. For durations and deadlines. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

// Time as a dependency, so that rules about time are tested without waiting. Loops and services rest by it too; a deadline
// for somebody else's answer is a timer of its own (test/unit/architecture.test.ts lists them).
import { setTimeout as timer } from 'node:timers/promises';

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Never goes back; milliseconds from an arbitrary start. For durations and deadlines. */
  monotonic(): number;
  /** Resolves after `ms`, or as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  // It rejects for nothing but the signal.
  sleep: (ms, signal) => timer(ms, undefined, { signal }).catch(() => {}),
};

// Time as a dependency, so that rules about time are tested without waiting. Loops and services also sleep through it; a deadline
// for an external answer is a separate timer (test/unit/architecture.test.ts lists them).

// Node's global `performance` is a getter, which takes longer than the clock itself: a poll reads it a dozen times.
import { performance } from 'node:perf_hooks';

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Monotonic clock; milliseconds from an arbitrary start. For durations and deadlines. */
  monotonic(): number;
  /** Resolves after `ms`, or as soon as the signal is aborted. Rejects with RangeError for NaN. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  // Loops are woken thousands of times a second. The timer of node:timers/promises would create an error, with its stack, each time.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      // setTimeout treats NaN as 1 ms, and a loop would spin.
      if (Number.isNaN(ms)) return reject(new RangeError('cannot sleep for NaN ms'));
      if (signal?.aborted === true) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end);
    }),
};

/**
 * Waits for `work`, at most `ms` milliseconds: for example where a shutdown must not depend on an external answer.
 * @returns whether `work` ended in time. Otherwise it continues, and its result is ignored.
 * @throws the error of `work`, if it comes in time.
 */
export async function withTimeout(
  ms: number,
  work: Promise<unknown>,
  clock: Pick<Clock, 'sleep'>,
): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    // Without a reason abort() would create an error with its stack, and every claim of a worker waits here.
    timer.abort('over');
  }
}

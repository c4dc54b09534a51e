// Bounds a wait in time. Used where a shutdown must not depend on an answer from elsewhere.
import type { Clock } from './clock.ts';

/**
 * Waits for `work`, at most `ms` milliseconds.
 * @returns whether `work` ended in time. If not it goes on, and its result is ignored.
 * @throws what `work` throws in time.
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
    timer.abort();
  }
}

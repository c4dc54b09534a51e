// Bounds a wait in time. Used where shutting down must not depend on somebody else's answer.
import type { Clock } from './clock.ts';

/** @returns true when `work` ended in time; false when not: then it goes on unobserved. Throws what `work` throws in time. */
export async function endsWithin(
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

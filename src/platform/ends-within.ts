// Bounds a wait in time. Used where shutting down must not depend on somebody else's answer.
import { setTimeout as sleep } from 'node:timers/promises';

/** @returns true when `work` ended in time; false when not: then it goes on unobserved. Throws what `work` throws in time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer.abort();
  }
}

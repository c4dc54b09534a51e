// Polls a condition until it holds or a deadline passes. For conditions of other processes, which no event announces.
import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Default 180,000: what is waited for comes at once, unless the machine is busy, which proves nothing. */
  readonly timeoutMs?: number;
  /** Default 10. */
  readonly everyMs?: number;
  /** What is waited for, for the failure message: "the queue to be empty". */
  readonly what?: string;
}

const PATIENCE_MS = 180_000;
/** What one try counts at most: nobody works while the machine itself stands still, for minutes at times. */
const LONGEST_TRY_MS = 1_000;

/**
 * Resolves with the first value that is neither false, null nor undefined. A condition that throws counts as not yet
 * true; its last error is the cause of the failure.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = PATIENCE_MS, everyMs = 10, what = 'the condition' }: WaitOptions = {},
): Promise<NonNullable<T>> {
  let waitedMs = 0;
  let last: unknown;
  for (;;) {
    const before = performance.now();
    try {
      last = await condition();
      if (last !== false && last !== null && last !== undefined) return last as NonNullable<T>;
    } catch (error) {
      last = error;
    }
    if (waitedMs >= timeoutMs) break;
    await sleep(everyMs);
    waitedMs += Math.min(performance.now() - before, LONGEST_TRY_MS);
  }
  const seen = last instanceof Error ? `last error: ${last.message}` : `last value: ${String(last)}`;
  throw new Error(`waited ${timeoutMs} ms in vain for ${what} (${seen})`, { cause: last });
}

/** For benches, which measure over a time. */
export function elapsed(ms: number): Promise<unknown> {
  const until = performance.now() + ms;
  return waitFor(() => performance.now() >= until, { timeoutMs: ms + 5_000, everyMs: 50 });
}

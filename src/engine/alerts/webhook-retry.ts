// When a webhook is tried again. Used by webhook-sender.ts.

/** Pause after each attempt that failed; after as many and one more the message is given up, some 17 hours on. */
const PAUSES_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000];
/** Pauses differ by a quarter either way, so that the messages of one outage do not come back as one. */
const JITTER = 0.25;

/** @param attempt of the failure, from 1. @param random in [0, 1). @returns null: give up. */
export function retryPauseMs(attempt: number, random: number): number | null {
  const pauseMs = PAUSES_MS[attempt - 1];
  return pauseMs === undefined ? null : Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random));
}

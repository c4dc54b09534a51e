// After a pause: how fast the limit of calls rises again, and what health leaves out while the task type catches up. Pure; used by the
// leader (engine/limits/concurrency-controller.ts) and by health.

/** After a shorter pause little waits, and there is no ramp. */
export const LONG_PAUSE_MS = 60_000;
/** The limit begins with an eighth, and doubles each time. */
const STEP_MS = 10_000;
const STEPS = 3;
/** In this time the figures of the last seconds are still of the pause. */
const FIRST_MS = 60_000;
/** However long a pause was, what is late then has another cause. */
const CAUGHT_UP_MS = 3_600_000;

/** Watches the pauses of one task type. Times are of the monotonic clock. */
export class ResumeRamp {
  #pausedSince: number | null = null;
  #endedAt: number | null = null;

  /** @returns the share of the limit that may be in force now, above 0 up to 1. In a long pause it is the one that the end begins with. */
  share(isPaused: boolean, nowMs: number): number {
    const since = this.#pausedSince;
    if (isPaused) {
      this.#pausedSince = since ?? nowMs;
      return nowMs - this.#pausedSince >= LONG_PAUSE_MS ? 2 ** -STEPS : 1;
    }
    if (since !== null) {
      this.#endedAt = nowMs - since >= LONG_PAUSE_MS ? nowMs : null;
      this.#pausedSince = null;
    }
    if (this.#endedAt === null) return 1;
    const steps = Math.floor((nowMs - this.#endedAt) / STEP_MS);
    if (steps >= STEPS) this.#endedAt = null;
    return Math.min(1, 2 ** (steps - STEPS));
  }
}

/** A pause of record, which may be over. Epoch milliseconds. */
export interface LastPause {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface CatchingUp {
  /** For how long polling was paused. */
  readonly pausedMs: number;
  /** What the last seconds show is still of the pause. */
  readonly isFirst: boolean;
}

/**
 * Catching up takes as long as the pause did at most, an hour at most, and a minute at least.
 * @param last the pause that ended last, or is in force by a record that is some seconds old; null: none for an hour
 * @param isPaused by what is in force
 */
export function catchingUp(last: LastPause | null, isPaused: boolean, nowMs: number): CatchingUp | null {
  if (last === null || isPaused) return null;
  // An end before its time may not be in the record yet.
  const sinceEndMs = Math.max(0, nowMs - last.untilMs);
  const pausedMs = Math.min(last.untilMs, nowMs) - last.sinceMs;
  if (pausedMs <= 0 || sinceEndMs >= Math.max(FIRST_MS, Math.min(CAUGHT_UP_MS, pausedMs))) return null;
  return { pausedMs, isFirst: sinceEndMs < FIRST_MS };
}

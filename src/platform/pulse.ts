// Finds loops that are stuck, for the watchdog. A loop that pauses, has nothing to do or fails because a store is
// unavailable still completes passes: all of these are bounded. A loop that completes none waits for something that will
// never happen, and only a restart of the process helps.
import type { Clock } from './clock.ts';

interface Pulsing {
  readonly name: string;
  /** Grows with every pass. */
  readonly passes: number;
}

/** Longer than the longest pause after a failure (5 s) and the deadlines of a pass (3 s per command) together. */
const STUCK_AFTER_MS = 15_000;

interface Seen {
  readonly passes: number;
  readonly at: number;
}

export class Pulse {
  readonly #seen = new Map<Pulsing, Seen>();

  constructor(
    private readonly loops: readonly Pulsing[],
    private readonly clock: Clock,
  ) {}

  /** Names of the loops that completed no pass for 15 s. Only calls of this method look, so call it often. */
  stuck(): string[] {
    const now = this.clock.monotonic();
    return this.loops
      .filter((loop) => now - this.#lastMoved(loop, now) > STUCK_AFTER_MS)
      .map(({ name }) => name);
  }

  #lastMoved(loop: Pulsing, now: number): number {
    const seen = this.#seen.get(loop);
    if (seen !== undefined && seen.passes === loop.passes) return seen.at;
    this.#seen.set(loop, { passes: loop.passes, at: now });
    return now;
  }
}

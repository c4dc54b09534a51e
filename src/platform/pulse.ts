// Tells loops that are stuck from loops that come round. Used by whoever answers a watchdog. A loop that rests, has nothing
// to do or fails because a store is away comes round: all of these are bounded. One that does not waits for something
// that will never be, and only a restart of the process helps.
import type { Clock } from './clock.ts';

interface Pulsing {
  readonly name: string;
  /** Grows with every pass. */
  readonly passes: number;
}

/** Longer than the longest rest after a failure (5 s) and the deadlines of a pass (3 s a command) together. */
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

  /** Names of the loops that made no pass for 15 s, as far as the calls of this method tell. */
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

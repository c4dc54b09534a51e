// A shared cache of one expensive number from the stores. It is read in the background, one read at a time and not too often.
// Readers wait for it together, for a moment at most: while a store is down or slow, they get the last known value. Used by
// stats.ts for the health of the fleet, and by cards/card-total.ts.
import { type Clock, withTimeout } from './clock.ts';

const ASK_EVERY_MS = 5_000;
/** Readers wait at most this long, and not at all after a slower answer. */
const PATIENCE_MS = 50;
/** An answer that no one has requested for this long after the rest is outdated. */
const SILENCE_MS = 60_000;

export class SharedReading<T> {
  #known: T | null = null;
  #latest: Promise<T> | null = null;
  #startedMs = 0;
  /** When the latest answer or error came; null while a read is running. */
  #endedMs: number | null = Number.NEGATIVE_INFINITY;
  #costMs = 0;

  /** @param restMs pause between an answer and the next read, by the duration of the answer. */
  constructor(
    private readonly ask: () => Promise<T>,
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
    private readonly restMs: (costMs: number) => number = () => ASK_EVERY_MS,
  ) {}

  /** @returns null: unknown, also after an error. */
  async read(): Promise<T | null> {
    const restMs = this.restMs(this.#costMs);
    if (this.#isOlderThan(restMs + SILENCE_MS)) this.#forget();
    const latest = this.#isOlderThan(restMs) ? this.#begin() : this.#latest;
    const patienceMs =
      this.#costMs > PATIENCE_MS ? 0 : this.#startedMs + PATIENCE_MS - this.clock.monotonic();
    if (this.#endedMs === null && patienceMs > 0) {
      await withTimeout(patienceMs, Promise.allSettled([latest]), this.clock);
    }
    return this.#known;
  }

  /** @returns the pending answer, the latest one, or a new one, however long it takes. @throws its error. */
  answer(): Promise<T> {
    return this.#latest === null || this.#isOlderThan(PATIENCE_MS) ? this.#begin() : this.#latest;
  }

  #isOlderThan(ms: number): boolean {
    return this.#endedMs !== null && this.clock.monotonic() >= this.#endedMs + ms;
  }

  #forget(): void {
    this.#known = null;
    this.#costMs = 0;
  }

  #begin(): Promise<T> {
    this.#startedMs = this.clock.monotonic();
    this.#endedMs = null;
    this.#latest = this.#ask();
    // Readiness reports that a store is down, so this number does not.
    this.#latest.catch(() => {});
    return this.#latest;
  }

  async #ask(): Promise<T> {
    let answer: T | null = null;
    try {
      answer = await this.ask();
      return answer;
    } finally {
      this.#known = answer;
      this.#endedMs = this.clock.monotonic();
      this.#costMs = this.#endedMs - this.#startedMs;
    }
  }
}

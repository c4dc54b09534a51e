// A number from the stores for the health of the fleet. It is read every few seconds at most. While a store is away, callers
// get null at once instead of waiting. Used by stats.ts.
import { type Clock, withTimeout } from '../../platform/clock.ts';

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 50;

export class PatientReading<T> {
  #known: T | null = null;
  #asking: Promise<void> | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly ask: () => Promise<T | null>,
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
  ) {}

  /** @returns null: unknown. */
  async read(): Promise<T | null> {
    if (this.#asking === null && this.clock.monotonic() >= this.#askedAtMs + ASK_EVERY_MS) {
      this.#asking = this.#ask();
    }
    if (this.#asking !== null) await withTimeout(PATIENCE_MS, this.#asking, this.clock);
    return this.#known;
  }

  async #ask(): Promise<void> {
    try {
      this.#known = await this.ask();
    } catch {
      // Readiness reports that a store is away; this number need not.
      this.#known = null;
    } finally {
      this.#askedAtMs = this.clock.monotonic();
      this.#asking = null;
    }
  }
}

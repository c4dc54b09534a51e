// A number that the stores know and that the health of the fleet wants: asked for every few seconds at most, and nobody waits
// for it while a store is away: then it is not known. Used by stats.ts.
import type { Clock } from '../../platform/clock.ts';
import { withTimeout } from '../../platform/with-timeout.ts';

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

  /** null: not known. */
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
      // Readiness, not this number, tells that a store is gone.
      this.#known = null;
    } finally {
      this.#askedAtMs = this.clock.monotonic();
      this.#asking = null;
    }
  }
}

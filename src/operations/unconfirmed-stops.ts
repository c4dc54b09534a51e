// How many cards run on although the gateway acknowledged their stop. Used by stats.ts. The records know; they are asked
// every few seconds at most, and nobody waits for them while the database is away: then the number is not known.
import type { Clock } from '../platform/clock.ts';
import { endsWithin } from '../platform/ends-within.ts';
import type { StopRecords } from '../store/ports/stop-records.ts';

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 50;

export class UnconfirmedStops {
  #known: number | null = null;
  #asking: Promise<void> | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly stops: Pick<StopRecords, 'unconfirmed'>,
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
  ) {}

  /** null: not known. */
  async read(): Promise<number | null> {
    if (this.#asking === null && this.clock.monotonic() >= this.#askedAtMs + ASK_EVERY_MS) {
      this.#asking = this.#ask();
    }
    if (this.#asking !== null) await endsWithin(PATIENCE_MS, this.#asking, this.clock);
    return this.#known;
  }

  async #ask(): Promise<void> {
    try {
      this.#known = await this.stops.unconfirmed();
    } catch {
      // Readiness, not this number, tells that the database is gone.
      this.#known = null;
    } finally {
      this.#askedAtMs = this.clock.monotonic();
      this.#asking = null;
    }
  }
}

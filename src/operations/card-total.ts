// The number of cards, without counting tens of millions of rows for every reader. Used by stats.ts and cards.ts.
//
// One count runs at a time and its result is kept for twenty times as long as it took, so counting never costs the
// database more than 5 % of one connection. A reader waits a moment for a fresh count, then takes the last one, or
// what initialisation counted when it began. Without either it waits, and an error of the count is its error.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../platform/clock.ts';

const MIN_AGE_MS = 1_000;
const AGE_PER_COST = 20;
const PATIENCE_MS = 250;

export class CardTotal {
  #last: { readonly total: number; readonly freshUntilMs: number } | null = null;
  #counting: Promise<number> | null = null;
  #generation = 0;

  constructor(
    private readonly count: () => Promise<number>,
    private readonly clock: Clock,
  ) {}

  /** @param estimate a number to make do with when counting takes long; 0 for none. Throws what the count throws. */
  async read(estimate: number): Promise<number> {
    if (this.#last !== null && this.clock.monotonic() < this.#last.freshUntilMs) return this.#last.total;
    this.#counting ??= this.#refresh().finally(() => {
      this.#counting = null;
    });
    const standIn = this.#last?.total ?? (estimate > 0 ? estimate : null);
    if (standIn === null) return this.#counting;
    // The live counters stay readable while the database is away: a count that fails leaves the reader the last one,
    // and readiness, not this number, tells that the database is gone.
    return within(PATIENCE_MS, this.#counting, standIn);
  }

  /** The next reader wants a new count: cards were imported. */
  expire(): void {
    this.#generation += 1;
    if (this.#last !== null) this.#last = { ...this.#last, freshUntilMs: 0 };
  }

  async #refresh(): Promise<number> {
    const generation = this.#generation;
    const startedMs = this.clock.monotonic();
    const total = await this.count();
    const endedMs = this.clock.monotonic();
    const keepMs = Math.max(MIN_AGE_MS, AGE_PER_COST * (endedMs - startedMs));
    // A count that began before expire() may not have seen the new cards.
    this.#last = {
      total,
      freshUntilMs: generation === this.#generation ? endedMs + keepMs : 0,
    };
    return total;
  }
}

async function within<T>(ms: number, wanted: Promise<T>, standIn: T): Promise<T> {
  const timer = new AbortController();
  const patience = sleep(ms, standIn, { signal: timer.signal }).catch(() => standIn);
  try {
    return await Promise.race([wanted.catch(() => standIn), patience]);
  } finally {
    timer.abort();
  }
}

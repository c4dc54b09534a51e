// The number of cards, without counting tens of millions of rows for every reader. Used by stats.ts and cards.ts.
//
// Counts run in the background, one at a time, and take at most 5 % of one connection's time (but may run every five
// minutes), also when they fail: a count may run into the database's time limit. A reader gets what is known: the last
// count, else the estimate, else the hint. For a small fleet that would be less than is to be had: where counts are quick
// a reader waits for the one that began, until it turns out not to be quick. Knowing nothing at all it waits, and an
// error of the count is its error.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';

const MIN_AGE_MS = 1_000;
const AGE_PER_COST = 20;
/** An outage, in which counts fail slowly, is not followed by an hour without one. */
const MAX_AGE_MS = 300_000;
/** A count, or an estimate, that takes longer is not waited for. */
const QUICK_MS = 50;

export class CardTotal {
  #last: number | null = null;
  #counting: Promise<number> | null = null;
  /** One at a time too: where the table is locked each would hold a connection. */
  #estimating: Promise<number> | null = null;
  #startedMs = 0;
  /** Of the last count, whether it gave a number or failed. */
  #endedMs = Number.NEGATIVE_INFINITY;
  #costMs = 0;
  #expired = false;

  constructor(
    private readonly cards: Pick<CardRecords, 'count' | 'estimate'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /** @param hint a number to make do with where there is no count and no estimate; 0 for none. Throws what the count throws. */
  async read(hint: number): Promise<number> {
    const counting = this.#isDue() ? this.#count() : this.#counting;
    const standIn = this.#last === null ? (await this.#estimate()) || hint : 0;
    const known = this.#last ?? (standIn === 0 ? null : standIn);
    if (known === null) return counting ?? this.#count();
    return counting === null ? known : within(this.#patienceMs(), counting, known);
  }

  /** Cards were imported, so many of them new as far as is known: the next count comes as soon as one is affordable. */
  imported(inserted: number): void {
    if (this.#last !== null) this.#last += inserted;
    this.#expired = true;
  }

  #isDue(): boolean {
    const minAgeMs = this.#expired ? 0 : MIN_AGE_MS;
    const restMs = Math.max(minAgeMs, Math.min(MAX_AGE_MS, AGE_PER_COST * this.#costMs));
    return this.#counting === null && this.clock.monotonic() >= this.#endedMs + restMs;
  }

  #count(): Promise<number> {
    this.#counting ??= this.#refresh();
    // The live counters stay readable while the database is away: readiness, not this number, tells that it is gone.
    this.#counting.catch(() => {});
    return this.#counting;
  }

  async #refresh(): Promise<number> {
    this.#startedMs = this.clock.monotonic();
    // Cards that are imported from here on may be missing in the count: it is out of date when it ends.
    this.#expired = false;
    try {
      this.#last = await this.cards.count();
      return this.#last;
    } finally {
      this.#endedMs = this.clock.monotonic();
      this.#costMs = this.#endedMs - this.#startedMs;
      this.#counting = null;
    }
  }

  /** 0 when there is none, or the database takes its time. */
  #estimate(): Promise<number> {
    this.#estimating ??= this.cards.estimate().finally(() => {
      this.#estimating = null;
    });
    return within(QUICK_MS, this.#estimating, 0);
  }

  /** Readers wait together: a count that hangs costs them this once. */
  #patienceMs(): number {
    return this.#costMs > QUICK_MS ? 0 : this.#startedMs + QUICK_MS - this.clock.monotonic();
  }
}

/** The stand-in where what is wanted fails, or takes longer. */
async function within<T>(ms: number, wanted: Promise<T>, standIn: T): Promise<T> {
  const timer = new AbortController();
  const patience = ms > 0 ? sleep(ms, standIn, { signal: timer.signal }).catch(() => standIn) : standIn;
  try {
    return await Promise.race([wanted.catch(() => standIn), patience]);
  } finally {
    timer.abort();
  }
}

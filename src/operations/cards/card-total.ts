// The number of cards, without counting tens of millions of rows for every reader. Used by stats.ts and cards.ts.
//
// Counts run in the background, one at a time, and use at most 5 % of one connection's time (but may run every five
// minutes). This includes counts that fail: a count may reach the database's time limit. A reader gets the last count,
// else the estimate, else the hint. For a small fleet it gets more: while counts are quick, a reader waits for the
// count in progress, until this one turns out to be slow. Without any number a reader waits for the count and gets its
// error.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';

const MIN_AGE_MS = 1_000;
const AGE_PER_COST = 20;
/**
 * Longest time between two counts: after an outage, in which counts fail slowly, the next one must not take an hour.
 */
const MAX_AGE_MS = 300_000;
/** Readers wait no longer than this for a count or an estimate. */
const QUICK_MS = 50;

export class CardTotal {
  #last: number | null = null;
  #counting: Promise<number> | null = null;
  /** Estimates run one at a time too: while the table is locked, each would hold a connection. */
  #estimating: Promise<number> | null = null;
  #startedMs = 0;
  /** When the last count ended, with a number or with an error. */
  #endedMs = Number.NEGATIVE_INFINITY;
  #costMs = 0;
  #expired = false;
  /** New cards that the last count does not include: they were written after it had started. */
  #sinceCount = 0;

  constructor(
    private readonly cards: Pick<CardRecords, 'count' | 'estimate'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /** @param hint a number to use without a count and an estimate; 0 for none. @throws the error of the count. */
  async read(hint: number): Promise<number> {
    const counting = this.#isDue() ? this.#count() : this.#counting;
    const last = this.#last === null ? null : this.#last + this.#sinceCount;
    const standIn = last === null ? (await this.#estimate()) || hint : 0;
    const known = last ?? (standIn === 0 ? null : standIn);
    if (known === null) return counting ?? this.#count();
    return counting === null ? known : within(this.#patienceMs(), counting, known);
  }

  /** Call after each chunk of an import, with its new cards: the next count starts as soon as the budget allows. */
  imported(inserted: number): void {
    this.#sinceCount += inserted;
    this.#expired = true;
  }

  #isDue(): boolean {
    const minAgeMs = this.#expired ? 0 : MIN_AGE_MS;
    const restMs = Math.max(minAgeMs, Math.min(MAX_AGE_MS, AGE_PER_COST * this.#costMs));
    return this.#counting === null && this.clock.monotonic() >= this.#endedMs + restMs;
  }

  #count(): Promise<number> {
    this.#counting ??= this.#refresh();
    // The live counters stay readable while the database is unavailable: readiness reports that, not this number.
    this.#counting.catch(() => {});
    return this.#counting;
  }

  async #refresh(): Promise<number> {
    this.#startedMs = this.clock.monotonic();
    // A count does not see what is written after its start: it is then out of date when it ends.
    this.#expired = false;
    const before = this.#sinceCount;
    try {
      const count = await this.cards.count();
      this.#last = count;
      this.#sinceCount -= before;
      return count + this.#sinceCount;
    } finally {
      this.#endedMs = this.clock.monotonic();
      this.#costMs = this.#endedMs - this.#startedMs;
      this.#counting = null;
    }
  }

  /** @returns the estimate; 0 without one, or when the database is slow. */
  #estimate(): Promise<number> {
    this.#estimating ??= this.cards.estimate().finally(() => {
      this.#estimating = null;
    });
    return within(QUICK_MS, this.#estimating, 0);
  }

  /** How long a reader waits: readers wait together, so a count that hangs costs this time once. */
  #patienceMs(): number {
    return this.#costMs > QUICK_MS ? 0 : this.#startedMs + QUICK_MS - this.clock.monotonic();
  }
}

/** @returns `standIn` when the wanted value fails or takes longer. */
async function within<T>(ms: number, wanted: Promise<T>, standIn: T): Promise<T> {
  const timer = new AbortController();
  const patience = ms > 0 ? sleep(ms, standIn, { signal: timer.signal }).catch(() => standIn) : standIn;
  try {
    return await Promise.race([wanted.catch(() => standIn), patience]);
  } finally {
    timer.abort();
  }
}

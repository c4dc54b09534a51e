// The number of cards, without counting tens of millions of rows for every reader. Used by stats.ts and cards.ts.
//
// Counts run in the background, one at a time, and use at most 5 % of one connection's time (but may run every five minutes).
// This includes failed counts: a count may reach the database's time limit. A reader gets the last count, otherwise the estimate,
// otherwise the hint. For a small fleet it gets more: while counts are fast, a reader waits for the count in progress, until this
// one turns out to be slow. Without any number a reader waits for the count and gets its error.
import type { Clock } from '../../platform/clock.ts';
import { SharedReading } from '../../platform/shared-reading.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';

const MIN_AGE_MS = 1_000;
const AGE_PER_COST = 20;
/**
 * Longest time between two counts: after an outage, in which counts fail slowly, the next one must not take an hour.
 */
const MAX_AGE_MS = 300_000;
/** Failing or slow counts are made within this time; an older count is not shown. */
const KEPT_MS = 3 * MAX_AGE_MS;

export class CardTotal {
  readonly #count: SharedReading<number>;
  readonly #estimate: SharedReading<number>;
  /** The last successful count, and when it was made by the monotonic clock. */
  #last: { readonly cards: number; readonly atMs: number } | null = null;
  #expired = false;
  /** New cards that the last count does not include: they were written after it had started. */
  #sinceCount = 0;

  constructor(
    private readonly cards: Pick<CardRecords, 'count' | 'estimate'>,
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
  ) {
    this.#count = new SharedReading(
      () => this.#countAll(),
      clock,
      (costMs) => Math.max(this.#expired ? 0 : MIN_AGE_MS, Math.min(MAX_AGE_MS, AGE_PER_COST * costMs)),
    );
    this.#estimate = new SharedReading(
      () => cards.estimate(),
      clock,
      () => 0,
    );
  }

  /** @param hint a number to use without a count and an estimate; 0: none. @throws the error of the count. */
  async read(hint: number): Promise<number> {
    await this.#count.read();
    if (this.#last !== null && !this.#isOld(this.#last.atMs)) return this.#last.cards + this.#sinceCount;
    return (await this.#estimate.read()) || hint || this.#count.answer();
  }

  /** The count is stale: no one has asked for a while, and cards may have changed in other ways than an import here. */
  #isOld(atMs: number): boolean {
    return this.clock.monotonic() - atMs > KEPT_MS;
  }

  /** Call after each chunk of an import, with its new cards: the next count starts as soon as the budget allows. */
  imported(inserted: number): void {
    this.#sinceCount += inserted;
    this.#expired = true;
  }

  async #countAll(): Promise<number> {
    // A count misses rows that are written after its start, so it is already outdated when it ends.
    this.#expired = false;
    const before = this.#sinceCount;
    const cards = await this.cards.count();
    this.#last = { cards, atMs: this.clock.monotonic() };
    this.#sinceCount -= before;
    return cards + this.#sinceCount;
  }
}

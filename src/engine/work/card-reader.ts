// Reads cards for the workers: first from the shared cache, then the missing ones from the record store, in one query a
// batch; these are then cached. A read takes a second at most, because the slots of the cards are held meanwhile: on a
// network that drops packets they would be held until the client's timeout.
import type { Card } from '../../domain/cards/card.ts';
import { type Clock, withTimeout } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { CardCache } from '../../store/ports/live/live-store.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';

const READ_TIMEOUT_MS = 1_000;
/** A slow answer of the database may still fill the cache for the next claim; after this long it is of no use. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The change feed may have dropped a card from the cache before its slow answer came, which is older than the change. */
const LATE_TTL_MS = 10_000;
/** Workers that cannot read try again every second, so after this long without a failure no worker is trying. */
const FORGOTTEN_AFTER_MS = 5_000;
/** Reads that have failed for a shorter time are no outage. */
const OUTAGE_AFTER_MS = 5_000;

interface ReadProgress {
  records: 'unasked' | 'asked' | 'answered';
}

export class CardReader {
  #hits = 0;
  #misses = 0;
  /** Number of reads that timed out and are still running. */
  #late = 0;
  /** Times of the first and the last failure since a read succeeded (monotonic clock), and the last one's reason. */
  #failures: {
    readonly firstAt: number;
    readonly lastAt: number;
    readonly reason: string;
    /** The record store failed, not the cache. */
    readonly ofRecords: boolean;
  } | null = null;

  constructor(
    private readonly cache: CardCache,
    private readonly records: Pick<CardRecords, 'byIds'>,
    private readonly ttlMs: number,
    private readonly clock: Clock,
  ) {}

  /** Cache look-ups since the start of this instance. */
  get counts(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** True while a read that timed out is still running: the next one would time out too. */
  get holdsClaims(): boolean {
    return this.#late > 0;
  }

  /** Milliseconds for which reads have failed; 0 while they succeed, or while no worker reads. */
  get failingMs(): number {
    if (this.#failures === null) return 0;
    const now = this.clock.monotonic();
    const isRecent = this.#late > 0 || now - this.#failures.lastAt < FORGOTTEN_AFTER_MS;
    return isRecent ? now - this.#failures.firstAt : 0;
  }

  /** How long the record store has not let cards be read (milliseconds), and why; null while it does. */
  get outage(): { readonly lastsMs: number; readonly reason: string } | null {
    const lastsMs = this.failingMs;
    if (this.#failures?.ofRecords !== true || lastsMs < OUTAGE_AFTER_MS) return null;
    return { lastsMs, reason: this.#failures.reason };
  }

  /** @returns the cards that exist, by id. @throws CardpollError `unavailable` after a second without an answer. */
  async read(cardIds: readonly number[]): Promise<Map<number, Card>> {
    const askedAt = this.clock.monotonic();
    const progress: ReadProgress = { records: 'unasked' };
    const reading = this.#read(cardIds, progress);
    try {
      if (!(await withTimeout(READ_TIMEOUT_MS, reading, this.clock)))
        throw this.#giveUp(reading, askedAt, progress);
    } catch (error) {
      this.#noteFailure(error, askedAt, progress.records === 'asked');
      throw error;
    }
    // Cards that were all cached say nothing about the records.
    if (progress.records === 'answered' || this.#failures?.ofRecords !== true) this.#failures = null;
    return reading;
  }

  /** Drops cards that were written from the cache, so that they are read again. */
  async forget(cardIds: readonly number[]): Promise<void> {
    if (cardIds.length > 0) await this.cache.drop(cardIds);
  }

  #noteFailure(error: unknown, askedAt: number, ofRecords: boolean): void {
    const firstAt = this.failingMs > 0 ? (this.#failures?.firstAt ?? askedAt) : askedAt;
    this.#failures = { firstAt, lastAt: this.clock.monotonic(), reason: messageOf(error), ofRecords };
  }

  #giveUp(reading: Promise<unknown>, askedAt: number, progress: ReadProgress): CardpollError {
    this.#late += 1;
    const ended = () => {
      this.#late -= 1;
    };
    void reading.then(ended, (error) => {
      // Before it ends: it has failed until now.
      this.#noteFailure(error, askedAt, progress.records === 'asked');
      ended();
    });
    return new CardpollError('unavailable', 'cards_not_read', 'cards could not be read within a second', {
      hint: 'Check how fast PostgreSQL answers from this machine.',
    });
  }

  async #read(cardIds: readonly number[], progress: ReadProgress): Promise<Map<number, Card>> {
    const cards = await this.cache.get(cardIds);
    const missing = cardIds.filter((id) => !cards.has(id));
    this.#hits += cardIds.length - missing.length;
    this.#misses += missing.length;
    if (missing.length === 0) return cards;
    progress.records = 'asked';
    const askedAt = this.clock.monotonic();
    const read = await this.records.byIds(missing, ANSWER_TIMEOUT_MS);
    progress.records = 'answered';
    for (const card of read) cards.set(card.cardId, card);
    const isLate = this.clock.monotonic() - askedAt >= READ_TIMEOUT_MS;
    await this.cache.put(read, isLate ? Math.min(LATE_TTL_MS, this.ttlMs) : this.ttlMs);
    return cards;
  }
}

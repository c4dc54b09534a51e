// Reads cards for the workers: from the shared cache, and what is missing from the record store, in one query a
// batch; what was missing is cached.
import type { Card } from '../domain/card.ts';
import type { CardCache } from '../store/ports/card-cache.ts';
import type { CardRecords } from '../store/ports/card-records.ts';

export class CardReader {
  #hits = 0;
  #misses = 0;

  constructor(
    private readonly cache: CardCache,
    private readonly records: Pick<CardRecords, 'byIds'>,
    private readonly ttlMs: number,
  ) {}

  /** Look-ups since the start of this instance. */
  get counts(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** The cards that exist, by id. */
  async read(cardIds: readonly number[]): Promise<Map<number, Card>> {
    const cards = await this.cache.get(cardIds);
    const missing = cardIds.filter((id) => !cards.has(id));
    this.#hits += cardIds.length - missing.length;
    this.#misses += missing.length;
    if (missing.length === 0) return cards;
    const read = await this.records.byIds(missing);
    for (const card of read) cards.set(card.cardId, card);
    await this.cache.put(read, this.ttlMs);
    return cards;
  }

  /** What was written lately is read anew. */
  async forget(cardIds: readonly number[]): Promise<void> {
    if (cardIds.length > 0) await this.cache.drop(cardIds);
  }
}

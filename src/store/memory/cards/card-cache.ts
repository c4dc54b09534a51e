// The card cache in this process's memory. It is bounded: past MAX_CARDS the oldest entries are removed.
import type { Card } from '../../../domain/cards/card.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { CardCache } from '../../ports/live/card-cache.ts';

const MAX_CARDS = 200_000;

export class EmbeddedCardCache implements CardCache {
  readonly #entries = new Map<number, { card: Card; expiresMs: number }>();

  constructor(private readonly clock: Clock) {}

  async get(cardIds: readonly number[]): Promise<Map<number, Card>> {
    const now = this.clock.now();
    const found = new Map<number, Card>();
    for (const cardId of cardIds) {
      const entry = this.#entries.get(cardId);
      if (entry === undefined) continue;
      if (entry.expiresMs > now) found.set(cardId, entry.card);
      else this.#entries.delete(cardId);
    }
    return found;
  }

  async put(cards: readonly Card[], ttlMs: number): Promise<void> {
    const expiresMs = this.clock.now() + ttlMs;
    for (const card of cards) {
      this.#entries.delete(card.cardId);
      this.#entries.set(card.cardId, { card, expiresMs });
    }
    for (const cardId of this.#entries.keys()) {
      if (this.#entries.size <= MAX_CARDS) break;
      this.#entries.delete(cardId);
    }
  }

  async drop(cardIds: readonly number[]): Promise<void> {
    for (const cardId of cardIds) this.#entries.delete(cardId);
  }
}

// The card cache in this process's memory. Bounded: beyond MAX_CARDS the oldest entries are removed.
import type { Card } from '../../../domain/cards/card.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { CardCache } from '../../ports/live/live-store.ts';

const MAX_CARDS = 200_000;

export function embeddedCardCache(clock: Clock): CardCache {
  const entries = new Map<number, { card: Card; expiresMs: number }>();

  return {
    async get(cardIds) {
      const now = clock.now();
      const found = new Map<number, Card>();
      for (const cardId of cardIds) {
        const entry = entries.get(cardId);
        if (entry === undefined) continue;
        if (entry.expiresMs > now) found.set(cardId, entry.card);
        else entries.delete(cardId);
      }
      return found;
    },

    async put(cards, ttlMs) {
      const expiresMs = clock.now() + ttlMs;
      for (const card of cards) {
        entries.delete(card.cardId);
        entries.set(card.cardId, { card, expiresMs });
      }
      for (const cardId of entries.keys()) {
        if (entries.size <= MAX_CARDS) break;
        entries.delete(cardId);
      }
    },

    async drop(cardIds) {
      for (const cardId of cardIds) entries.delete(cardId);
    },
  };
}

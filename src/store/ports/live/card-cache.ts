// Port section of live-store.ts: what a poll needs to know of a card, close at hand.
import type { Card } from '../../../domain/cards/card.ts';

export interface CardCache {
  /** Cached cards by id; missing ones are absent. */
  get(cardIds: readonly number[]): Promise<Map<number, Card>>;
  /** Stores cards; each entry lives at most `ttlMs`. */
  put(cards: readonly Card[], ttlMs: number): Promise<void>;
  drop(cardIds: readonly number[]): Promise<void>;
}

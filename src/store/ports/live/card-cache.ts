// Port section of live-store.ts: the cache of the cards, with what a poll needs to know.
import type { Card } from '../../../domain/cards/card.ts';

export interface CardCache {
  /** @returns cached cards by id; cards that are not cached are absent. */
  get(cardIds: readonly number[]): Promise<Map<number, Card>>;
  /** Stores cards; each entry expires after `ttlMs` at the latest. */
  put(cards: readonly Card[], ttlMs: number): Promise<void>;
  drop(cardIds: readonly number[]): Promise<void>;
}

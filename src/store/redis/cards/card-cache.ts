// The card cache in Redis: 65,536 small hashes. The high bits of a card's phase select the hash. So the cards of one
// ring bucket, which are claimed together, mostly share a hash, and a claim is read with few commands.
import type { Card } from '../../../domain/cards/card.ts';
import { phaseHash } from '../../../domain/schedule/phase.ts';
import type { CardCache } from '../../ports/live/card-cache.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { packCard, unpackCard } from './packed-card.ts';

const PART_SHIFT = 16;
const CARDS_PER_CALL = 1_000;

export function redisCardCache(client: RedisClient, keys: Keys): CardCache {
  async function perPart<T>(
    values: readonly T[],
    idOf: (value: T) => number,
    send: (key: string, part: T[]) => Promise<void>,
  ): Promise<void> {
    const parts = new Map<number, T[]>();
    for (const value of values) {
      const part = phaseHash(idOf(value)) >>> PART_SHIFT;
      const list = parts.get(part);
      if (list === undefined) parts.set(part, [value]);
      else list.push(value);
    }
    const calls: Array<Promise<void>> = [];
    for (const [part, list] of parts) {
      for (let from = 0; from < list.length; from += CARDS_PER_CALL) {
        calls.push(send(keys.cardCache(part), list.slice(from, from + CARDS_PER_CALL)));
      }
    }
    await Promise.all(calls);
  }

  const perPartOfIds = (cardIds: readonly number[], send: (key: string, ids: number[]) => Promise<void>) =>
    perPart(cardIds, (id) => id, send);

  return {
    async get(cardIds) {
      const cards = new Map<number, Card>();
      await perPartOfIds(cardIds, async (key, ids) => {
        const packed = (await client.command('HMGET', key, ...ids)) as Array<string | null>;
        for (const [i, text] of packed.entries()) {
          const card = text === null ? null : unpackCard(ids[i] as number, text);
          if (card !== null) cards.set(card.cardId, card);
        }
      });
      return cards;
    },

    async put(cards, ttlMs) {
      const send = async (key: string, part: readonly Card[]) => {
        const fields = part.flatMap((card) => [card.cardId, packCard(card)]);
        await client.script('cardCachePut', [key], [Math.ceil(ttlMs), ...fields]);
      };
      await perPart(cards, (card) => card.cardId, send);
    },

    async drop(cardIds) {
      await perPartOfIds(cardIds, async (key, ids) => {
        await client.command('HDEL', key, ...ids);
      });
    },
  };
}

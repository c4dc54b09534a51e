// Cards for the workers: what the cache holds from there, what it lacks from the records, once.
import { beforeEach, expect, it } from 'vitest';
import type { Card } from '../../../src/domain/card.ts';
import { CardReader } from '../../../src/engine/card-reader.ts';
import { openEmbeddedLiveStore } from '../../../src/store/memory/live-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const TTL_MS = 60_000;
const card = (cardId: number): Card => ({ cardId, iccid: `8986${cardId}` }) as Card;

let clock: FakeClock;
/** The ids of each query. */
let asked: Array<readonly number[]>;
let reader: CardReader;

beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  const { cards } = openEmbeddedLiveStore({ clock });
  const byIds = async (ids: readonly number[]) => {
    asked.push(ids);
    return ids.filter((id) => id < 100).map(card);
  };
  reader = new CardReader(cards, { byIds }, TTL_MS);
});

const idsOf = async (cardIds: readonly number[]) => [...(await reader.read(cardIds)).keys()].sort();

it('asks the records for what the cache lacks, in one query, and counts both', async () => {
  expect(await idsOf([1, 2])).toEqual([1, 2]);
  expect(await idsOf([1, 2, 3])).toEqual([1, 2, 3]);
  expect(asked).toEqual([[1, 2], [3]]);
  expect(reader.counts).toEqual({ hits: 2, misses: 3 });
  expect((await reader.read([3])).get(3)).toMatchObject(card(3));
  expect(asked, 'nothing is missing').toHaveLength(2);
});

it('tells only of cards that exist', async () => {
  expect(await idsOf([1, 100])).toEqual([1]);
});

it('reads anew what was cached too long ago', async () => {
  await reader.read([1]);
  clock.advance(TTL_MS + 1);
  await reader.read([1]);
  expect(asked).toHaveLength(2);
});

it('reads anew what is forgotten, and nothing else', async () => {
  await reader.read([1, 2]);
  await reader.forget([]);
  await reader.forget([2]);
  await reader.read([1, 2]);
  expect(asked).toEqual([[1, 2], [2]]);
});

// Cards for the workers: what the cache holds from there, what it lacks from the records, once.

import { beforeEach, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { CardReader } from '../../../../src/engine/work/card-reader.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TTL_MS = 60_000;
const card = (cardId: number): Card => ({ cardId, iccid: `8986${cardId}` }) as Card;

let clock: FakeClock;
/** The ids of each query. */
let asked: Array<readonly number[]>;
let reader: CardReader;
/** What the records wait for before they answer. */
let answers: Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  answers = Promise.resolve();
  const { cards } = openLimitedLiveStore({ clock });
  const byIds = async (ids: readonly number[]) => {
    asked.push(ids);
    await answers;
    return ids.filter((id) => id < 100).map(card);
  };
  reader = new CardReader(cards, { byIds }, TTL_MS, clock);
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

it('returns only cards that exist', async () => {
  expect(await idsOf([1, 100])).toEqual([1]);
});

it('reads expired entries again', async () => {
  await reader.read([1]);
  clock.advance(TTL_MS + 1);
  await reader.read([1]);
  expect(asked).toHaveLength(2);
});

it('reads forgotten cards again, and no others', async () => {
  await reader.read([1, 2]);
  await reader.forget([]);
  await reader.forget([2]);
  await reader.read([1, 2]);
  expect(asked).toEqual([[1, 2], [2]]);
});

it('gives up a read after a second, holds claims back until it ends, and has cached what it brought', async () => {
  let answer = () => {};
  answers = new Promise((resolve) => {
    answer = resolve;
  });
  const reading = reader.read([1]).catch((error: unknown) => error);
  await waitFor(() => asked.length === 1, { everyMs: 1 });
  expect(reader.holdsClaims).toBe(false);
  await clock.run(1_000);
  expect(await reading).toMatchObject({ kind: 'unavailable', code: 'cards_not_read' });
  expect(reader.holdsClaims).toBe(true);
  expect(reader.outage, 'a second is no outage').toBeNull();
  clock.advance(20_000);
  expect(reader.failingMs).toBe(21_000);
  expect(reader.outage).toEqual({ lastsMs: 21_000, reason: 'cards could not be read within a second' });
  answer();
  await waitFor(() => !reader.holdsClaims, { everyMs: 1, what: 'the late answer' });
  expect(await idsOf([1])).toEqual([1]);
  expect([asked, reader.failingMs]).toEqual([[[1]], 0]);
  expect(reader.outage).toBeNull();
});

it('keeps what a slow answer brought for ten seconds only: the card may have changed meanwhile', async () => {
  let answer = () => {};
  answers = new Promise((resolve) => {
    answer = resolve;
  });
  const reading = reader.read([1]).catch(() => {});
  await waitFor(() => asked.length === 1, { everyMs: 1 });
  await clock.run(1_000);
  await reading;
  answer();
  await waitFor(() => !reader.holdsClaims, { everyMs: 1, what: 'the late answer' });
  clock.advance(9_000);
  await reader.read([1]);
  expect(asked).toHaveLength(1);
  clock.advance(1_001);
  await reader.read([1]);
  expect(asked).toHaveLength(2);
});

it('does not take cached cards for an answer of the records', async () => {
  await reader.read([1]);
  const away = Promise.reject(new Error('away'));
  away.catch(() => {});
  answers = away;
  for (let second = 0; second < 6; second += 1) {
    await expect(reader.read([2])).rejects.toThrow('away');
    await reader.read([1]);
    clock.advance(1_000);
  }
  expect(reader.outage).toEqual({ lastsMs: 6_000, reason: 'away' });
  answers = Promise.resolve();
  await reader.read([2]);
  expect(reader.outage).toBeNull();
});

it('counts a read that fails late as a failure until then', async () => {
  let fail = (_: Error) => {};
  answers = new Promise((_, reject) => {
    fail = reject;
  });
  const reading = reader.read([1]).catch(() => {});
  await waitFor(() => asked.length === 1, { everyMs: 1 });
  await clock.run(1_000);
  await reading;
  clock.advance(9_000);
  fail(new Error('lock timeout'));
  await waitFor(() => !reader.holdsClaims, { everyMs: 1 });
  expect(reader.outage).toEqual({ lastsMs: 10_000, reason: 'lock timeout' });
});

it('does not blame the records when the cache fails', async () => {
  const away = () => Promise.reject(new Error('Redis is away'));
  const byIds = async (ids: readonly number[]) => ids.map(card);
  for (const cache of [
    { get: away, put: async () => {}, drop: async () => {} },
    { get: async () => new Map(), put: away, drop: async () => {} },
  ]) {
    const cacheless = new CardReader(cache as never, { byIds }, TTL_MS, clock);
    await expect(cacheless.read([1])).rejects.toThrow('Redis is away');
    clock.advance(4_000);
    await expect(cacheless.read([1])).rejects.toThrow('Redis is away');
    clock.advance(4_000);
    expect([cacheless.failingMs, cacheless.outage]).toEqual([8_000, null]);
  }
});

it('measures how long reads have failed, until one succeeds or no worker reads any more', async () => {
  const broken = Promise.reject(new Error('away'));
  broken.catch(() => {});
  answers = broken;
  for (let second = 0; second < 3; second += 1) {
    await expect(reader.read([1])).rejects.toThrow('away');
    clock.advance(1_000);
  }
  expect([reader.failingMs, reader.holdsClaims]).toEqual([3_000, false]);
  clock.advance(10_000);
  expect(reader.failingMs, 'others read them by now').toBe(0);
  await expect(reader.read([1])).rejects.toThrow('away');
  answers = Promise.resolve();
  await reader.read([1]);
  clock.advance(1_000);
  expect(reader.failingMs).toBe(0);
});

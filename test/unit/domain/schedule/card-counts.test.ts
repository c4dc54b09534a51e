import { expect, it } from 'vitest';
import { CardCounts, cardsOfCarriers } from '../../../../src/domain/schedule/card-counts.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';

const config = (id: number, over: Partial<PollingConfig>): PollingConfig => ({
  ...{ id, name: '', taskType: 'package', cardCondition: 'any', carrierId: null, intervalSeconds: 60 },
  ...{ priority: 0, status: 1, ...over },
});
/** 2 verified and 1 other card of carrier 1, 100 of carrier 7, which are not verified. */
function counted(): CardCounts {
  const counts = new CardCounts();
  for (const realNameVerified of [true, true, false]) counts.add({ carrierId: 1, realNameVerified });
  counts.add({ carrierId: 7, realNameVerified: false }, 100);
  return new CardCounts(String(counts));
}
const of = (taskType: PollingConfig['taskType'], ...configs: PollingConfig[]) =>
  counted().unselected(taskType, new ConfigMatcher(configs));

it('finds the cards that no enabled config selects, by carrier, most first', () => {
  expect(of('package', config(1, {}))).toEqual([]);
  expect(of('package', config(1, { carrierId: 1 }))).toEqual([{ carrierId: 7, cards: 100 }]);
  expect(of('package', config(1, { carrierId: 9 }))).toEqual([
    { carrierId: 7, cards: 100 },
    { carrierId: 1, cards: 3 },
  ]);
  expect(of('package', config(1, { cardCondition: 'verified' })), 'by condition').toEqual([
    { carrierId: 7, cards: 100 },
    { carrierId: 1, cards: 1 },
  ]);
});

it('a disabled config selects none, though it keeps its cards from others', () => {
  const disabled = config(2, { carrierId: 7, priority: 5, status: 0 });
  expect(of('package', config(1, {}), disabled)).toEqual([{ carrierId: 7, cards: 100 }]);
  expect(of('package', disabled), 'the type is not polled at all').toEqual([]);
  expect(of('carddata', config(1, {}))).toEqual([]);
});

it('a verified card needs no further check of its name', () => {
  const first = config(1, { taskType: 'realname', cardCondition: 'not_verified' });
  expect(of('realname', first)).toEqual([]);
  expect(of('realname', { ...first, carrierId: 7 })).toEqual([{ carrierId: 1, cards: 3 }]);
});

it('finds the carriers of which many cards have a counter in doubt', () => {
  const counts = new CardCounts();
  for (const carrierId of [1, 2, 3]) counts.add({ carrierId, realNameVerified: false }, 50_000);
  counts.add({ carrierId: 1, realNameVerified: true }, 50_000);
  for (const [carrierId, cards] of [
    [1, 99],
    [2, 30],
    [2, 30],
    [3, 60],
    [4, 19],
  ] as const)
    counts.addInDoubt({ carrierId, cards });
  expect(new CardCounts(String(counts)).inDoubt(), 'a thousandth, and 20').toEqual([
    { carrierId: 2, cards: 60 },
    { carrierId: 3, cards: 60 },
  ]);
  expect(counts.unselected('package', new ConfigMatcher([config(1, {})])), 'no cards of their own').toEqual(
    [],
  );
});

it('counts a bounded number of groups', () => {
  const counts = new CardCounts();
  for (let carrierId = -5_000; carrierId < 5_000; carrierId += 1)
    counts.add({ carrierId, realNameVerified: false });
  expect(String(counts).split(',')).toHaveLength(1_000);
  expect(
    new CardCounts(String(counts)).unselected('package', new ConfigMatcher([config(1, { carrierId: 1 })])),
  ).toHaveLength(1_000);
});

it('names the first carriers', () => {
  const found = [1, 2, 3, 4, 5].map((carrierId) => ({ carrierId, cards: carrierId === 2 ? 1 : 10 }));
  expect(cardsOfCarriers(found)).toBe(
    '10 cards of carrier 1, 1 card of carrier 2, 10 cards of carrier 3, 20 cards of 2 more carriers',
  );
  expect(cardsOfCarriers(found.slice(0, 1))).toBe('10 cards of carrier 1');
});

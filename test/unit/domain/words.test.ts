// Counts and spans of time in words.
import { expect, it } from 'vitest';
import { cardCount, countWords, grouped, span, spanWords } from '../../../src/domain/words.ts';

it.each([
  [0, '0 s'],
  [0.1, '1 s'],
  [119, '119 s'],
  [120, '2 min'],
  [121, '3 min'],
  [7_199, '120 min'],
  [7_200, '2 h'],
  [172_799, '48 h'],
  [172_800, '2 d'],
  [172_801, '3 d'],
])('a wait of %d seconds is %s', (seconds, words) => {
  expect(spanWords(seconds)).toBe(words);
});

it.each([
  [0, '0s'],
  [59, '59s'],
  [7_500, '2h 5m'],
  [90_061, '1d 1h'],
])('an interval of %d seconds is %s', (seconds, words) => {
  expect(span(seconds)).toBe(words);
});

it.each([0, 7, -123, 999, 1_000, -1_234, 123_456, 1_234_567, 1_234.5, 0.123_45, Number.MAX_SAFE_INTEGER])(
  'groups the digits of %d as Intl does',
  (value) => {
    expect(grouped(value)).toBe(value.toLocaleString('en-US'));
  },
);

it.each([
  [0, '0 cards'],
  [1, '1 card'],
  [10_434, '10,434 cards'],
])('%d of them are %s', (count, words) => {
  expect(countWords(count, 'card')).toBe(words);
});

it('counts by a plural of its own', () => {
  expect([countWords(1, 'entry', 'entries'), countWords(2, 'entry', 'entries')]).toEqual([
    '1 entry',
    '2 entries',
  ]);
});

it('counts cards with the verb that agrees', () => {
  const verb = ['is kept', 'are kept'] as const;
  expect([cardCount(1, verb), cardCount(2_000, verb), cardCount(1)]).toEqual([
    '1 card is kept',
    '2,000 cards are kept',
    '1 card',
  ]);
});

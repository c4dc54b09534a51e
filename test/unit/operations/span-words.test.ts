// Spans of time and counts as sentences name them.
import { expect, it } from 'vitest';
import { countWords, spanWords } from '../../../src/operations/span-words.ts';

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
])('%d seconds are %s', (seconds, words) => {
  expect(spanWords(seconds)).toBe(words);
});

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

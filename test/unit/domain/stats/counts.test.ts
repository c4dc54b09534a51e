import { expect, it } from 'vitest';
import { rounded, roundedOrNull } from '../../../../src/domain/rounded.ts';
import { lowerBoundOfShare, sumOfCounts } from '../../../../src/domain/stats/counts.ts';

it('counts are added up by name', () => {
  expect(sumOfCounts<string>([{ timeout: 2 }, {}, { timeout: 3, refused: 1 }])).toEqual({
    timeout: 5,
    refused: 1,
  });
  expect(sumOfCounts<string>([])).toEqual({});
});

it('numbers are rounded to two decimals', () => {
  expect([
    rounded(1.005_1),
    rounded(2 / 3),
    rounded(-0.126),
    roundedOrNull(0.333),
    roundedOrNull(null),
  ]).toEqual([1.01, 0.67, -0.13, 0.33, null]);
});

// Against values computed apart.
it.each([
  [0.01, 100, 0.0011721428348740496],
  [0.5, 10, 0.18391845506813173],
  [0.5, 100, 0.3750902756596735],
  [0, 1_000, 0],
  [1, 10, 10 / (10 + 2.58 ** 2)],
  [0.3, 0, 0],
])('a share of %f in %i calls is at least %f', (share, calls, bound) => {
  expect(lowerBoundOfShare(share, calls)).toBeCloseTo(bound, 10);
});

it('the lower bound comes closer to the share with more calls', () => {
  const bounds = [8, 80, 800, 8_000].map((calls) => lowerBoundOfShare(0.25, calls));
  expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
  expect(bounds.at(-1)).toBeGreaterThan(0.23);
});

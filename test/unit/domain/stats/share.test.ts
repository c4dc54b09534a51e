// The lower bound of a share against values computed apart.
import { expect, it } from 'vitest';
import { lowerBoundOfShare } from '../../../../src/domain/stats/share.ts';

it.each([
  [0.01, 100, 0.0011721428348740496],
  [0.5, 10, 0.18391845506813173],
  [0.5, 100, 0.3750902756596735],
  [0, 1_000, 0],
  [1, 10, 10 / (10 + 2.58 ** 2)],
  [0.3, 0, 0],
])('of %f in %i calls is %f', (share, calls, bound) => {
  expect(lowerBoundOfShare(share, calls)).toBeCloseTo(bound, 10);
});

it('comes closer to the share with more calls', () => {
  const bounds = [8, 80, 800, 8_000].map((calls) => lowerBoundOfShare(0.25, calls));
  expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
  expect(bounds.at(-1)).toBeGreaterThan(0.23);
});

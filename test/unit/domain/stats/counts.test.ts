import { expect, it } from 'vitest';
import { rounded, roundedOrNull } from '../../../../src/domain/rounded.ts';
import { sumOfCounts } from '../../../../src/domain/stats/counts.ts';

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

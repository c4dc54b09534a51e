import { describe, expect, it } from 'vitest';
import {
  durationBucketOf,
  lowerBoundOfShare,
  percentDown,
  percentileOf,
  rounded,
  roundedOrNull,
  sumOfCounts,
} from '../../../src/domain/numbers.ts';

it('counts are added up by name', () => {
  expect(sumOfCounts<string>([{ timeout: 2 }, {}, { timeout: 3, refused: 1 }])).toEqual({
    timeout: 5,
    refused: 1,
  });
  expect(sumOfCounts<string>([])).toEqual({});
});

it('percentages are rounded down to two decimals, and those with two decimals stay as they are', () => {
  expect([99.999, 89.996, 0.004, 100, 0].map((percent) => percentDown(percent))).toEqual([
    99.99, 89.99, 0.004, 100, 0,
  ]);
  expect([99.96, 89.99, 80.4].map((percent) => percentDown(percent, 1))).toEqual([99.9, 89.9, 80.4]);
  const exact = Array.from({ length: 10_001 }, (_, i) => i / 100);
  expect(exact.map((percent) => percentDown(percent))).toEqual(exact);
});

it('a percentage above 0 is never shown as 0', () => {
  expect([0.04, 0.000_33, 0].map((percent) => percentDown(percent, 1))).toEqual([0.04, 0.0003, 0]);
});

it('one poll an hour is not shown as none', () => {
  expect([1 / 3_600, 400 / 86_400, 0, 0.126].map(rounded)).toEqual([0.000_28, 0.0046, 0, 0.13]);
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

describe('a percentile of durations', () => {
  function countsOf(values: readonly number[]): Record<number, number> {
    const counts: Record<number, number> = {};
    for (const ms of values) counts[durationBucketOf(ms)] = (counts[durationBucketOf(ms)] ?? 0) + 1;
    return counts;
  }

  it('stays within its bucket, whatever the durations', () => {
    const shapes: Record<string, (i: number) => number> = {
      uniform: (i) => i,
      long_tail: (i) => 5 * 1.01 ** i,
      two_humps: (i) => (i < 900 ? 20 + i / 100 : 10_000 + i),
    };
    for (const [name, at] of Object.entries(shapes)) {
      const values = Array.from({ length: 1_000 }, (_, i) => at(i + 1));
      for (const share of [0.05, 0.5, 0.95, 0.99]) {
        const truth = values[share * 1_000 - 1] as number;
        const ratio = (percentileOf(countsOf(values), share) as number) / truth;
        expect(Math.abs(Math.log2(ratio)), `${name} ${share}`).toBeLessThan(Math.log2(1.27));
      }
    }
  });

  it('takes buckets in whatever order they were counted', () => {
    const [fast, slow] = [durationBucketOf(10), durationBucketOf(1_000)];
    expect(percentileOf({ [slow]: 1, [fast]: 9 }, 0.5)).toBeLessThan(13);
  });

  it('knows nothing without a poll, and has no holes between buckets', () => {
    expect(percentileOf({}, 0.5)).toBeNull();
    expect(durationBucketOf(0)).toBe(0);
    expect(durationBucketOf(0.99)).toBe(0);
    expect(durationBucketOf(1)).toBe(1);
    expect(durationBucketOf(60_000)).toBeLessThan(49);
    expect(percentileOf({ [durationBucketOf(100)]: 1 }, 1)).toBeGreaterThanOrEqual(100);
    expect(percentileOf({ 0: 4 }, 0.5)).toBe(0.5);
  });
});

import { expect, it } from 'vitest';
import { bucketOf, percentileOf } from '../../../../src/domain/stats/durations.ts';

function countsOf(values: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const ms of values) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
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
  const [fast, slow] = [bucketOf(10), bucketOf(1_000)];
  expect(percentileOf({ [slow]: 1, [fast]: 9 }, 0.5)).toBeLessThan(13);
});

it('knows nothing without a poll, and has no holes between buckets', () => {
  expect(percentileOf({}, 0.5)).toBeNull();
  expect(bucketOf(0)).toBe(0);
  expect(bucketOf(0.99)).toBe(0);
  expect(bucketOf(1)).toBe(1);
  expect(bucketOf(60_000)).toBeLessThan(49);
  expect(percentileOf({ [bucketOf(100)]: 1 }, 1)).toBeGreaterThanOrEqual(100);
  expect(percentileOf({ 0: 4 }, 0.5)).toBe(0.5);
});

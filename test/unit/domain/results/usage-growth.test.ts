// How fast readings grow, and the median of many.
import { describe, expect, it } from 'vitest';
import { growthBucketOf, growthMbPerHour, growthOf } from '../../../../src/domain/results/usage-growth.ts';

const HOUR_MS = 3_600_000;
const LAST = { lastReadingMb: 100, readAtMs: 10 * HOUR_MS };

function counted(rates: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const rate of rates) counts[growthBucketOf(rate)] = (counts[growthBucketOf(rate)] ?? 0) + 1;
  return counts;
}

describe('growthMbPerHour', () => {
  it.each<[string, number, number, number | null]>([
    ['is the growth by the hours since the last change', 130, 10.5, 60],
    ['counts at least a second', 101, 10 + 1 / HOUR_MS, 3_600],
    ['is none for the same reading', 100, 11, null],
    ['is none for a smaller one', 99, 11, null],
    ['is none for a late one', 130, 9, null],
  ])('%s', (_, usedMb, hour, mbPerHour) => {
    const rate = growthMbPerHour(LAST, { usedMb, atMs: hour * HOUR_MS });
    if (mbPerHour === null) expect(rate).toBeNull();
    else expect(rate).toBeCloseTo(mbPerHour, 6);
  });

  it('is none for a first reading', () => {
    expect(growthMbPerHour(null, { usedMb: 5, atMs: 0 })).toBeNull();
  });
});

describe('growthOf', () => {
  it('has no median without a reading', () => {
    expect(growthOf({})).toEqual({ readings: 0, mbPerHour: 0 });
  });

  it.each([0.002, 0.3, 1, 25, 1_024, 5e6])('finds %d to a factor of 1.2', (rate) => {
    const { readings, mbPerHour } = growthOf(counted([rate / 900, rate, rate * 900]));
    expect(readings).toBe(3);
    expect(mbPerHour / rate).toBeGreaterThan(1 / 1.2);
    expect(mbPerHour / rate).toBeLessThan(1.2);
  });

  it('is of few numbers, however slow or fast the readings grow', () => {
    const rates = Array.from({ length: 2_000 }, (_, i) => 10 ** (i / 50 - 20));
    const buckets = Object.keys(counted(rates)).map(Number);
    expect(Math.min(...buckets)).toBe(0);
    expect(Math.max(...buckets)).toBe(80);
  });
});

import { describe, expect, it } from 'vitest';
import {
  bucketOf,
  bucketsFor,
  dueAt,
  MAX_AVERAGE_BUCKET_CARDS,
  MIN_BUCKETS,
  nextDueAt,
} from '../../../src/domain/phase.ts';

/** Largest number of integers Redis keeps as an intset by default. */
const INTSET_LIMIT = 512;

function largestBucket(cards: number, idOf: (n: number) => number, buckets = bucketsFor(cards)): number {
  const sizes = new Uint32Array(buckets);
  for (let n = 0; n < cards; n += 1) {
    const bucket = bucketOf(idOf(n), buckets);
    sizes[bucket] = (sizes[bucket] ?? 0) + 1;
  }
  return sizes.reduce((most, size) => Math.max(most, size), 0);
}

describe('bucketsFor', () => {
  it('is a power of two, at least the minimum, for about 100 to 200 cards a bucket', () => {
    expect(bucketsFor(0)).toBe(MIN_BUCKETS);
    for (const cards of [1_000_000, 10_000_000, 30_000_000]) {
      const buckets = bucketsFor(cards);
      expect(Math.log2(buckets) % 1).toBe(0);
      expect(cards / buckets).toBeLessThanOrEqual(200);
      expect(cards / buckets).toBeGreaterThan(100);
    }
  });
});

describe('bucketOf', () => {
  it.each([
    ['dense ids', (n: number) => n + 1],
    ['even ids', (n: number) => n * 2],
    ['ids a power of two apart', (n: number) => n * 1024],
    ['ids a million apart', (n: number) => n * 1_000_000],
    ['ids past 2^32', (n: number) => 2 ** 33 + n * 7],
  ])('keeps every bucket an intset for %s', (_, idOf) => {
    expect(largestBucket(1_000_000, idOf)).toBeLessThanOrEqual(INTSET_LIMIT);
  });

  it('keeps most buckets intsets until the ring is rebuilt', () => {
    const buckets = 4_096;
    const cards = buckets * MAX_AVERAGE_BUCKET_CARDS;
    const sizes = new Uint32Array(buckets);
    for (let id = 0; id < cards; id += 1) {
      const bucket = bucketOf(id, buckets);
      sizes[bucket] = (sizes[bucket] ?? 0) + 1;
    }
    const over = sizes.filter((size) => size > INTSET_LIMIT).length;
    expect(over / buckets).toBeLessThan(0.01);
  });

  it('puts eight neighbours into one bucket', () => {
    const buckets = 65_536;
    expect(new Set([80, 81, 82, 83, 84, 85, 86, 87].map((id) => bucketOf(id, buckets))).size).toBe(1);
  });

  it('keeps a card at its phase when the ring grows', () => {
    for (let id = 1; id < 100_000; id += 977) {
      expect(bucketOf(id, 1_024) / 1_024).toBeCloseTo(bucketOf(id, 65_536) / 65_536, 2);
    }
  });
});

describe('nextDueAt', () => {
  const ring = { buckets: 64, intervalMs: 64_000, anchorMs: 1_000_000, cursor: 70 };

  it('is the due time of the first bucket at or after the cursor that holds the card', () => {
    for (let id = 1; id < 2_000; id += 13) {
      const due = nextDueAt(ring, id);
      const index = (due - ring.anchorMs) / 1_000;
      expect(index).toBeGreaterThanOrEqual(ring.cursor);
      expect(index).toBeLessThan(ring.cursor + ring.buckets);
      expect(index % ring.buckets).toBe(bucketOf(id, ring.buckets));
      expect(dueAt(ring, index)).toBe(due);
    }
  });
});

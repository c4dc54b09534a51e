// How long polls took, as counts by bucket: what percentiles are made of. Buckets grow by a quarter (the cube root of
// two), so a percentile is never wrong by more than that, and a minute takes no more than 49 of them. Pure.
import type { Counts } from './counts.ts';

/** Bucket -> how many. */
export type Durations = Counts<number>;

const BUCKETS_A_DOUBLING = 3;

/** @param ms not negative. Bucket 0 is below a millisecond. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(BUCKETS_A_DOUBLING * Math.log2(ms));
}

/** Milliseconds which this share (0 to 1) of the polls took at most; null without a poll. */
export function percentileOf(durations: Durations, share: number): number | null {
  // An object gives its keys that are whole numbers in their order.
  const buckets = Object.entries(durations).map(([bucket, count]) => ({ bucket: Number(bucket), count }));
  let left = share * buckets.reduce((total, { count }) => total + count, 0);
  for (const { bucket, count } of buckets) {
    if (left <= count) return within(bucket, left / count);
    left -= count;
  }
  return null;
}

/** Assumes that the polls of a bucket are spread evenly over it. */
function within(bucket: number, share: number): number {
  const from = bucket === 0 ? 0 : 2 ** ((bucket - 1) / BUCKETS_A_DOUBLING);
  const to = 2 ** (bucket / BUCKETS_A_DOUBLING);
  return from + share * (to - from);
}

// Durations of polls, as counts by bucket, for percentiles. Buckets grow by a quarter (the cube root of
// two), so a percentile is never wrong by more than that, and a minute takes no more than 49 of them. Pure.
import type { Counts } from './counts.ts';

/** Bucket -> count. */
export type Durations = Counts<number>;

const BUCKETS_A_DOUBLING = 3;

/** @param ms not negative. Bucket 0 is below a millisecond. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(BUCKETS_A_DOUBLING * Math.log2(ms));
}

/** The percentile of a share (0 to 1), in milliseconds; null without a poll. */
export function percentileOf(durations: Durations, share: number): number | null {
  // Integer keys of an object are in ascending order.
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

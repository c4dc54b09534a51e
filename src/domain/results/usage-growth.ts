// How fast the readings of usage grow, as counts by rate: the whole fleet's growth in a few dozen numbers a minute. The rate
// of a reading is what it shows more than the highest one before, in MB per hour since the last change. Pure.
import type { Counts } from '../stats/counts.ts';

/** Bucket -> number of readings. */
export type GrowthCounts = Counts<number>;

const SLOWEST_MB_PER_HOUR = 0.001;
const BUCKETS_A_DOUBLING = 2;
/** A million GB per hour; faster is counted here too. */
const LAST_BUCKET = 80;
/** Two readings of a card are further apart, but for clocks that are set. */
const SHORTEST_MS = 1_000;
const HOUR_MS = 3_600_000;

/** What is known of a card when it is read. */
interface LastReading {
  readonly lastReadingMb: number;
  readonly readAtMs: number;
}

/** @returns null for a first reading, one that did not grow, and one taken before the last. */
export function growthMbPerHour(
  last: LastReading | null,
  { usedMb, atMs }: { readonly usedMb: number; readonly atMs: number },
): number | null {
  if (last === null || usedMb <= last.lastReadingMb || atMs <= last.readAtMs) return null;
  const hours = Math.max(SHORTEST_MS, atMs - last.readAtMs) / HOUR_MS;
  return (usedMb - last.lastReadingMb) / hours;
}

export function growthBucketOf(mbPerHour: number): number {
  const doublings = Math.log2(mbPerHour / SLOWEST_MB_PER_HOUR);
  return Math.min(LAST_BUCKET, Math.max(0, 1 + Math.floor(BUCKETS_A_DOUBLING * doublings)));
}

export interface Growth {
  readonly readings: number;
  /** The median, to a factor of 1.2; 0 without a reading. */
  readonly mbPerHour: number;
}

export function growthOf(counts: GrowthCounts): Growth {
  // Integer keys of an object are in ascending order.
  const buckets = Object.entries(counts);
  const readings = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = readings / 2;
  for (const [bucket, count] of buckets) {
    left -= count;
    if (left <= 0 && count > 0) return { readings, mbPerHour: middleOf(Number(bucket)) };
  }
  return { readings: 0, mbPerHour: 0 };
}

/** The middle of a bucket on its logarithmic scale. */
function middleOf(bucket: number): number {
  return SLOWEST_MB_PER_HOUR * 2 ** ((bucket - 0.5) / BUCKETS_A_DOUBLING);
}

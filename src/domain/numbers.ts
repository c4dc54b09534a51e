// The arithmetic of statistics: sums of counts by name or number, the lower bound of a share when few calls were counted,
// durations by bucket, for percentiles, and rounding for display. Verdicts use the unrounded numbers. Pure.

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Key -> count. */
export type Counts<Key extends string | number> = Readonly<Record<Key, number>>;

export function sumOfCounts<Key extends string | number>(all: ReadonlyArray<Counts<Key>>): Counts<Key> {
  const total: Record<string, number> = {};
  for (const counts of all) {
    for (const [key, count] of Object.entries<number>(counts)) total[key] = (total[key] ?? 0) + count;
  }
  return total as Counts<Key>;
}

/** Standard deviations: one window in two hundred, or in forty, exceeds the bound by chance. */
const ONCE_IN_200 = 2.58;
export const ONCE_IN_40 = 1.96;

/**
 * The lower bound of Wilson's score interval for a share (0 to 1) observed in this many independent calls.
 * @param z standard deviations that chance may be off
 * @returns 0 to 1
 */
export function lowerBoundOfShare(share: number, calls: number, z = ONCE_IN_200): number {
  if (calls === 0) return 0;
  const z2 = z * z;
  const spread = z * Math.sqrt((share * (1 - share)) / calls + z2 / (4 * calls * calls));
  return Math.max(0, (share + z2 / (2 * calls) - spread) / (1 + z2 / calls));
}

/**
 * Durations of polls: bucket -> count. Buckets grow by a quarter (the cube root of two), which bounds the error of a percentile;
 * durations up to a minute need only 49 buckets.
 */
export type Durations = Counts<number>;

const BUCKETS_A_DOUBLING = 3;

/** @param ms not negative. Bucket 0 is below a millisecond. */
export function durationBucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(BUCKETS_A_DOUBLING * Math.log2(ms));
}

/** The percentile of a share (0 to 1), in milliseconds; null without a poll. */
export function percentileOf(durations: Durations, share: number): number | null {
  const at = quantileOf(durations, share);
  return at === null ? null : within(at.bucket, at.part);
}

/** @returns the share (0 to 1) of the polls that took at least that long; 0 without a poll. */
export function shareFrom(durations: Durations, ms: number): number {
  const all = Object.entries(durations);
  const slow = all.filter(([bucket]) => Number(bucket) >= durationBucketOf(ms));
  const count = (counts: typeof all) => sum(counts.map(([, polls]) => polls));
  return count(slow) / Math.max(1, count(all));
}

/** The bucket in which a share (0 to 1) of all counts is reached, and the position in it; null without a count. */
export function quantileOf(counts: Counts<number>, share: number): { bucket: number; part: number } | null {
  let left = share * sum(Object.values(counts));
  // Integer keys of an object are in ascending order.
  for (const [bucket, count] of Object.entries(counts)) {
    if (count > 0 && left <= count) return { bucket: Number(bucket), part: left / count };
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

/**
 * Two decimals: more would be noise in a table. A smaller value keeps two digits, so that one poll an hour is not shown as none.
 */
export function rounded(value: number): number {
  return Math.abs(value) < 0.1 ? Number(value.toPrecision(2)) : Math.round(value * 100) / 100;
}

/**
 * A percentage, rounded down: 99.999 is not 100, and 89.999 is below 90. A smaller value keeps one digit, so that it is not shown
 * as 0.
 */
export function percentDown(percent: number, digits: 1 | 2 = 2): number {
  const scale = 10 ** digits;
  // 1.15 * 100 is a little less than 115.
  const down = Math.floor(Number((percent * scale).toFixed(6))) / scale;
  return down === 0 ? Number(percent.toPrecision(1)) : down;
}

/** Megabytes rounded to a byte: the sum of many readings has more digits than any of them. */
export function roundedMb(mb: number): number {
  return Number(mb.toFixed(6));
}

export function roundedOrNull(value: number | null): number | null {
  return value === null ? null : rounded(value);
}

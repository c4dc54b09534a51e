// How fast the readings of usage grow, as counts by rate: the whole fleet's growth in a few dozen numbers a minute. The rate
// of a reading is what it shows more than the highest one before, in MB per hour since the last change. Pure.
//
// From these counts follows whether the usage of the whole fleet jumps: the median growth of the last minutes against that of
// the hour before. No customer does that; a gateway that changes its unit does. While a jump is on, what it began from stays
// the measure, so that an hour of wrong readings does not become normal. Used by engine/results/usage-jump-watch.ts.
import type { UsageMonth } from '../cards/usage-month.ts';
import { type Counts, quantileOf, sum, sumOfCounts } from '../numbers.ts';

/** Bucket -> number of readings. */
export type GrowthCounts = Counts<number>;

const SLOWEST_MB_PER_HOUR = 0.001;
const BUCKETS_A_DOUBLING = 2;
/** A million GB per hour; faster is counted here too. */
const LAST_BUCKET = 80;
/** Two readings of a card are further apart, but for clocks that are set. */
const SHORTEST_MS = 1_000;
const HOUR_MS = 3_600_000;

/** @returns null for a first reading, one that did not grow, and one taken before the last. */
export function growthMbPerHour(
  last: Pick<UsageMonth, 'lastReadingMb' | 'readAtMs'> | null,
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

interface Growth {
  readonly readings: number;
  /** The median, to a factor of 1.2; 0 without a reading. */
  readonly mbPerHour: number;
}

export function growthOf(counts: GrowthCounts): Growth {
  const median = quantileOf(counts, 0.5);
  return { readings: sum(Object.values(counts)), mbPerHour: median === null ? 0 : middleOf(median.bucket) };
}

/** The middle of a bucket on its logarithmic scale. */
function middleOf(bucket: number): number {
  return SLOWEST_MB_PER_HOUR * 2 ** ((bucket - 0.5) / BUCKETS_A_DOUBLING);
}

const JUMP_FACTOR = 20;
/** With fewer readings a median says little about a fleet. */
const READINGS_TO_BEGIN = 100;
/** Fewer are enough to see that it is over: a fleet that is polled slowly must not be held back for hours. */
const READINGS_TO_END = 10;
/** The last minutes: two, or as many as it takes for enough readings. */
const RECENT_MINUTES = { least: 2, most: 10 };
const BASELINE_MINUTES = 60;

/** How many minutes of growth a judgement needs, the present one included. */
export const GROWTH_MINUTES = RECENT_MINUTES.most + BASELINE_MINUTES;

/** Number of a minute since the epoch -> the growth read in it. */
export type GrowthMinutes = ReadonlyMap<number, GrowthCounts>;

interface JumpInForce {
  readonly baselineMbPerHour: number;
  /** What it began with: less than what followed, where only some of the readings were wrong yet. */
  readonly recentMbPerHour: number;
  /** When an operator said that it is right; null: nobody did. */
  readonly acceptedAtMs: number | null;
}

type JumpVerdict =
  /** Also while one is on: growth is as far beyond the level that was accepted. */
  | { readonly begins: { factor: number; baselineMbPerHour: number; recentMbPerHour: number } }
  /** back: growth is what it was before. new_level: an accepted jump has become the hour before. */
  | { readonly ends: 'back' | 'new_level'; readonly recentMbPerHour: number };

export function minuteOf(atMs: number): number {
  return Math.floor(atMs / 60_000);
}

/**
 * @param nowMinute the present minute, which has just begun or is nearly over
 * @returns null when nothing changes
 */
export function judgeGrowth(
  minutes: GrowthMinutes,
  nowMinute: number,
  jump: JumpInForce | null,
): JumpVerdict | null {
  const { recent, hour } = windowsOf(minutes, nowMinute);
  const jumped = isEnough(hour) ? jumpFrom(hour.mbPerHour, recent) : null;
  if (jump === null) return jumped && { begins: jumped };
  const level = acceptedLevel(minutes, jump);
  const further = level === null ? null : jumpFrom(level, recent);
  if (further !== null) return { begins: further };
  const recentMbPerHour = recent.mbPerHour;
  if (recent.readings >= READINGS_TO_END && recentMbPerHour <= JUMP_FACTOR * jump.baselineMbPerHour) {
    return { ends: 'back', recentMbPerHour };
  }
  const isNormal = jumped === null && isEnough(recent) && isEnough(hour);
  return jump.acceptedAtMs !== null && isNormal ? { ends: 'new_level', recentMbPerHour } : null;
}

/** What was read when an operator accepted the jump, as far as that is known; null: nobody did. */
function acceptedLevel(
  minutes: GrowthMinutes,
  { acceptedAtMs, recentMbPerHour }: JumpInForce,
): number | null {
  if (acceptedAtMs === null) return null;
  const { recent } = windowsOf(minutes, minuteOf(acceptedAtMs));
  return isEnough(recent) ? Math.max(recentMbPerHour, recent.mbPerHour) : recentMbPerHour;
}

function jumpFrom(baselineMbPerHour: number, recent: Growth) {
  const { mbPerHour: recentMbPerHour } = recent;
  if (!isEnough(recent) || recentMbPerHour <= JUMP_FACTOR * baselineMbPerHour) return null;
  return { factor: recentMbPerHour / baselineMbPerHour, baselineMbPerHour, recentMbPerHour };
}

function windowsOf(minutes: GrowthMinutes, nowMinute: number): { recent: Growth; hour: Growth } {
  const growthFrom = (first: number, last: number) =>
    growthOf(
      sumOfCounts([...minutes].filter(([at]) => at >= first && at <= last).map(([, counts]) => counts)),
    );
  let first = nowMinute - RECENT_MINUTES.least + 1;
  const earliest = nowMinute - RECENT_MINUTES.most + 1;
  while (first > earliest && !isEnough(growthFrom(first, nowMinute))) first -= 1;
  return { recent: growthFrom(first, nowMinute), hour: growthFrom(first - BASELINE_MINUTES, first - 1) };
}

function isEnough({ readings }: Growth): boolean {
  return readings >= READINGS_TO_BEGIN;
}

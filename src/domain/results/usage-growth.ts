// How fast the readings of usage grow, as counts by rate: the whole fleet's growth in a few dozen numbers a minute. The rate of a
// reading is its difference to the highest one before, in MB per hour since the last change. Pure.
//
// These counts show a jump of the whole fleet's usage: the median growth of the last minutes exceeds that of the hour before and
// that of this time on the last days (when devices of a fleet may upload together) many times. No customer causes that; a gateway
// that changes its unit does. During a jump the growth before it stays the baseline, so that an hour of wrong readings does not
// become normal. Used by engine/results/usage-jump-watch.ts.
import type { UsageMonth } from '../cards/usage-month.ts';
import { type Counts, quantileOf, sum, sumOfCounts } from '../numbers.ts';

/** Bucket -> number of readings. */
export type GrowthCounts = Counts<number>;

const SLOWEST_MB_PER_HOUR = 0.001;
const BUCKETS_A_DOUBLING = 2;
/** A million GB per hour; faster is counted here too. */
const LAST_BUCKET = 80;
/** Doubtful readings: they fell far below the highest one, or grew faster than a card can transfer. */
export const DOUBTFUL_BUCKET = LAST_BUCKET + 1;
/** Shortest time between two readings of a card, except after a change of a clock. */
const SHORTEST_MS = 1_000;
const HOUR_MS = 3_600_000;

/**
 * @returns null for a first reading, also of another ICCID, for one taken before the last, and for one that neither grew nor fell
 * far. Negative: it fell below half of the highest one, as correct readings do after wrong ones.
 */
export function growthMbPerHour(
  last: Pick<UsageMonth, 'lastReadingMb' | 'readAtMs' | 'ofFormerIccid'> | null,
  { usedMb, atMs }: { readonly usedMb: number; readonly atMs: number },
): number | null {
  if (last === null || last.ofFormerIccid || atMs <= last.readAtMs) return null;
  if (usedMb <= last.lastReadingMb && usedMb >= last.lastReadingMb / 2) return null;
  const hours = Math.max(SHORTEST_MS, atMs - last.readAtMs) / HOUR_MS;
  return (usedMb - last.lastReadingMb) / hours;
}

export function growthBucketOf(mbPerHour: number): number {
  if (mbPerHour < 0) return DOUBTFUL_BUCKET;
  const doublings = Math.log2(mbPerHour / SLOWEST_MB_PER_HOUR);
  return Math.min(LAST_BUCKET, Math.max(0, 1 + Math.floor(BUCKETS_A_DOUBLING * doublings)));
}

interface Growth {
  readonly readings: number;
  /** The median, to a factor of 1.2; 0 without a reading. */
  readonly mbPerHour: number;
}

export function growthOf({ [DOUBTFUL_BUCKET]: _, ...counts }: GrowthCounts): Growth {
  const median = quantileOf(counts, 0.5);
  return { readings: sum(Object.values(counts)), mbPerHour: median === null ? 0 : middleOf(median.bucket) };
}

/** The middle of a bucket on its logarithmic scale. */
function middleOf(bucket: number): number {
  return SLOWEST_MB_PER_HOUR * 2 ** ((bucket - 0.5) / BUCKETS_A_DOUBLING);
}

/** A median of fewer readings means little for a fleet. */
const READINGS_TO_BEGIN = 100;
/** Fewer readings suffice to see the end, so that a jump does not hold a slowly polled fleet for hours. */
const READINGS_TO_END = 10;
/** The last minutes: two, or as many as it takes for enough readings. */
const RECENT_MINUTES = { least: 2, most: 10 };
const BASELINE_MINUTES = 60;

/** How many minutes of growth a judgement needs, the current one included. */
export const GROWTH_MINUTES = RECENT_MINUTES.most + BASELINE_MINUTES;

/** The number of past days that are compared, at this hour of the day and its neighbours: devices do not upload to the minute. */
const DAYS = 7;
const NEXT_HOURS = [-1, 0, 1];
/** How many hours of growth a judgement needs, the current one included. */
export const GROWTH_HOURS = DAYS * 24 + 2;

export interface GrowthHistory {
  /** Number of a minute since the epoch -> the growth read in it. */
  readonly minutes: ReadonlyMap<number, GrowthCounts>;
  /** Number of an hour since the epoch -> the fastest growth of some minutes in it, MB per hour. */
  readonly hours: ReadonlyMap<number, number>;
}

interface JumpInForce {
  readonly sinceMs: number;
  readonly baselineMbPerHour: number;
  /** Growth when the jump began: a lower bound, if only some of the readings were wrong yet. */
  readonly recentMbPerHour: number;
  /** When an operator accepted it; null: not accepted. */
  readonly acceptedAtMs: number | null;
}

/**
 * How a jump ends. back: growth is normal again. new_level: an accepted jump has become the hour before. off: jumps are not
 * looked for any more.
 */
export type JumpEnd = 'back' | 'new_level' | 'off';

type JumpVerdict =
  /** Also during an accepted jump, when growth exceeds the accepted level as much. */
  | { readonly begins: { factor: number; baselineMbPerHour: number; recentMbPerHour: number } }
  /** wereWrong: its readings did not hold, and do not become a baseline. */
  | { readonly ends: JumpEnd; readonly wereWrong: boolean };

/** Setting `usage.jump_factor`: growth of more than this many times the usual one is a jump. */
export type JumpFactor = number | 'off';

/** A jump is detected some minutes after its first reading. */
export const SEEN_WITHIN_MS = 600_000;
/** A jump was wrong if this share of the readings that end it is doubtful. */
const WRONG_SHARE = 0.25;

export function minuteOf(atMs: number): number {
  return Math.floor(atMs / 60_000);
}

export function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS);
}

/** @returns the growth of the last minutes, MB per hour; null: too few readings. */
export function recentGrowth({ minutes }: GrowthHistory, nowMs: number): number | null {
  const { recent } = windowsOf(minutes, minuteOf(nowMs));
  return isEnough(recent) ? recent.mbPerHour : null;
}

/** @returns null when nothing changes */
export function judgeGrowth(
  history: GrowthHistory,
  nowMs: number,
  jump: JumpInForce | null,
  jumpFactor: JumpFactor,
): JumpVerdict | null {
  if (jumpFactor === 'off') return jump && { ends: 'off', wereWrong: false };
  const { minutes } = history;
  const { recent, hour } = windowsOf(minutes, minuteOf(nowMs));
  const before = growthBefore(history, nowMs);
  const jumped = before === null ? null : jumpFrom(before, recent, jumpFactor);
  if (jump === null) return jumped && { begins: jumped };
  const level = acceptedLevel(minutes, jump);
  const further = level === null ? null : jumpFrom(level, recent, jumpFactor);
  if (further !== null) return { begins: further };
  if (recent.readings >= READINGS_TO_END && recent.mbPerHour <= jumpFactor * jump.baselineMbPerHour) {
    const since = minuteOf(jump.sinceMs - SEEN_WITHIN_MS);
    return { ends: 'back', wereWrong: doubtfulSince(minutes, since) >= WRONG_SHARE * recent.readings };
  }
  const isNormal = jumped === null && isEnough(recent) && isEnough(hour);
  return jump.acceptedAtMs !== null && isNormal ? { ends: 'new_level', wereWrong: false } : null;
}

/** @returns the baseline for the growth of the last minutes, MB per hour; null: unknown. */
export function growthBefore(history: GrowthHistory, nowMs: number): number | null {
  const { hour } = windowsOf(history.minutes, minuteOf(nowMs));
  const usual = usualGrowth(history.hours, hourOf(nowMs));
  return isEnough(hour) ? Math.max(hour.mbPerHour, usual ?? 0) : usual;
}

/** @returns within how many minutes a jump that begins now shows in the growth. */
export function minutesToSee({ minutes }: GrowthHistory, nowMs: number): number {
  return windowsOf(minutes, minuteOf(nowMs)).recentMinutes;
}

/** The fastest growth at this time of the last days; null: unknown. */
export function usualGrowth(hours: GrowthHistory['hours'], nowHour: number): number | null {
  let fastest: number | null = null;
  for (let day = 1; day <= DAYS; day += 1) {
    for (const next of NEXT_HOURS) {
      const growth = hours.get(nowHour - 24 * day + next);
      if (growth !== undefined) fastest = Math.max(fastest ?? 0, growth);
    }
  }
  return fastest;
}

function doubtfulSince(minutes: GrowthHistory['minutes'], since: number): number {
  return sum([...minutes].map(([at, counts]) => (at >= since ? (counts[DOUBTFUL_BUCKET] ?? 0) : 0)));
}

/** The growth when an operator accepted the jump, as far as it is known; null: not accepted. */
function acceptedLevel(
  minutes: GrowthHistory['minutes'],
  { acceptedAtMs, recentMbPerHour }: JumpInForce,
): number | null {
  if (acceptedAtMs === null) return null;
  const { recent } = windowsOf(minutes, minuteOf(acceptedAtMs));
  return isEnough(recent) ? Math.max(recentMbPerHour, recent.mbPerHour) : recentMbPerHour;
}

function jumpFrom(baselineMbPerHour: number, recent: Growth, jumpFactor: number) {
  const { mbPerHour: recentMbPerHour } = recent;
  if (!isEnough(recent) || recentMbPerHour <= jumpFactor * baselineMbPerHour) return null;
  return { factor: recentMbPerHour / baselineMbPerHour, baselineMbPerHour, recentMbPerHour };
}

function windowsOf(minutes: GrowthHistory['minutes'], nowMinute: number) {
  const growthFrom = (first: number, last: number) =>
    growthOf(
      sumOfCounts([...minutes].filter(([at]) => at >= first && at <= last).map(([, counts]) => counts)),
    );
  let first = nowMinute - RECENT_MINUTES.least + 1;
  const earliest = nowMinute - RECENT_MINUTES.most + 1;
  while (first > earliest && !isEnough(growthFrom(first, nowMinute))) first -= 1;
  return {
    recent: growthFrom(first, nowMinute),
    recentMinutes: nowMinute - first + 1,
    hour: growthFrom(first - BASELINE_MINUTES, first - 1),
  };
}

function isEnough({ readings }: Growth): boolean {
  return readings >= READINGS_TO_BEGIN;
}

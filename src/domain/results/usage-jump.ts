// Whether the usage of the whole fleet jumps: the median growth of the last minutes against that of the hour before. No
// customer does that; a gateway that changes its unit does. While a jump is on, what it began from stays the measure, so
// that an hour of wrong readings does not become normal. Used by engine/results/usage-jump-watch.ts. Pure.
import { sumOfCounts } from '../stats/counts.ts';
import { type Growth, type GrowthCounts, growthOf } from './usage-growth.ts';

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

/** A jump that is on. */
interface JumpInForce {
  readonly baselineMbPerHour: number;
  /** When an operator said that it is right; null: nobody did. */
  readonly acceptedAtMs: number | null;
}

type JumpVerdict =
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
  const jumped =
    isEnough(recent) && isEnough(hour) && recent.mbPerHour > JUMP_FACTOR * hour.mbPerHour
      ? {
          factor: recent.mbPerHour / hour.mbPerHour,
          baselineMbPerHour: hour.mbPerHour,
          recentMbPerHour: recent.mbPerHour,
        }
      : null;
  if (jump === null) return jumped && { begins: jumped };
  const recentMbPerHour = recent.mbPerHour;
  if (recent.readings >= READINGS_TO_END && recentMbPerHour <= JUMP_FACTOR * jump.baselineMbPerHour) {
    return { ends: 'back', recentMbPerHour };
  }
  const isNormal = jumped === null && isEnough(recent) && isEnough(hour);
  return jump.acceptedAtMs !== null && isNormal ? { ends: 'new_level', recentMbPerHour } : null;
}

function windowsOf(minutes: GrowthMinutes, nowMinute: number): { recent: Growth; hour: Growth } {
  const sum = (first: number, last: number) =>
    growthOf(
      sumOfCounts([...minutes].filter(([at]) => at >= first && at <= last).map(([, counts]) => counts)),
    );
  let first = nowMinute - RECENT_MINUTES.least + 1;
  const earliest = nowMinute - RECENT_MINUTES.most + 1;
  while (first > earliest && !isEnough(sum(first, nowMinute))) first -= 1;
  return { recent: sum(first, nowMinute), hour: sum(first - BASELINE_MINUTES, first - 1) };
}

function isEnough({ readings }: Growth): boolean {
  return readings >= READINGS_TO_BEGIN;
}

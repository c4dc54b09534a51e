// The budget of stops: how many the whole fleet has called in the last hour and the last day, counted by slots of time, the
// newest last; and how many may be called before readings are compared again. Stored in the one row that every claim of a stop
// locks. Pure.
import { sum } from '../numbers.ts';

export interface StopCounts {
  /** Epoch minutes of the last slots. */
  readonly minute: number;
  /** This minute and the 60 before. */
  readonly byMinute: readonly number[];
  /** This quarter of an hour and the 96 before. */
  readonly byQuarter: readonly number[];
  /**
   * Stops by cardpoll's own decision that are left until the watch has compared the readings of cards over their package again.
   */
  readonly unwatchedLeft: number;
}

const MINUTE_MS = 60_000;
const MINUTES_A_QUARTER = 15;
/** Slots of an hour and of a day, plus the current one. */
export const MINUTE_SLOTS = 61;
export const QUARTER_SLOTS = 97;

/** @param now epoch milliseconds. A clock that was set back moves nothing: the counts stay in the window for longer. */
export function movedOn(counts: StopCounts, now: number): StopCounts {
  const { minute, byMinute, byQuarter } = counts;
  const present = Math.floor(now / MINUTE_MS);
  return {
    ...counts,
    minute: present,
    byMinute: shifted(byMinute, present - minute),
    byQuarter: shifted(byQuarter, quarterOf(present) - quarterOf(minute)),
  };
}

/**
 * @param counts moved on to the current minute.
 * @param isOwn whether cardpoll decided on the call: the watch compares the reading behind it.
 * @returns the counts with one more call.
 */
export function counted(counts: StopCounts, isOwn: boolean): StopCounts {
  const unwatchedLeft = counts.unwatchedLeft - Number(isOwn);
  return { ...added(counts, counts.minute, 1), unwatchedLeft };
}

/** @param counts as for `counted`. @param chargedAt when the call was counted; has no effect outside the windows. */
export function uncounted(counts: StopCounts, chargedAt: number): StopCounts {
  return added(counts, Math.floor(chargedAt / MINUTE_MS), -1);
}

/** @returns which limit is used up; null: a further stop is within both. null as a limit: none. */
export function usedUp(
  { byMinute, byQuarter }: StopCounts,
  maxPerHour: number | null,
  maxPerDay: number | null,
): 'budget_hour' | 'budget_day' | null {
  if (maxPerHour !== null && sum(byMinute) >= maxPerHour) return 'budget_hour';
  if (maxPerDay !== null && sum(byQuarter) >= maxPerDay) return 'budget_day';
  return null;
}

function shifted(slots: readonly number[], by: number): readonly number[] {
  if (by <= 0) return slots;
  const gone = Math.min(by, slots.length);
  return [...slots.slice(gone), ...Array<number>(gone).fill(0)];
}

function added(counts: StopCounts, at: number, change: number): StopCounts {
  const { minute, byMinute, byQuarter } = counts;
  return {
    ...counts,
    byMinute: slotAdded(byMinute, minute - at, change),
    byQuarter: slotAdded(byQuarter, quarterOf(minute) - quarterOf(at), change),
  };
}

/** @param age slots before the newest; a time ahead of it counts as the newest. */
function slotAdded(slots: readonly number[], age: number, change: number): readonly number[] {
  const place = slots.length - 1 - Math.max(0, age);
  return slots.map((count, i) => (i === place ? Math.max(0, count + change) : count));
}

function quarterOf(minute: number): number {
  return Math.floor(minute / MINUTES_A_QUARTER);
}

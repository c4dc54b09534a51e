// Sums ten-second slots into the rolling windows of the statistics. Used by both implementations of PollStats, which
// count in the same slots. Pure.

import { type Durations, sumOfCounts } from '../../../domain/numbers.ts';
import { type PollsByCarrier, sumOfCarriers } from '../../../domain/results/carrier-polls.ts';
import type { PollWindow } from '../../../domain/stats/task-metrics.ts';
import {
  type FailureReasons,
  STATS_SLOT_SECONDS,
  STATS_WINDOW_SECONDS,
  type StatsReading,
} from './poll-stats.ts';

/** The counts of one slot. */
export interface StatsSlot extends PollWindow {
  readonly implausible: number;
  readonly durations: Durations;
  readonly reasons: FailureReasons;
  readonly carriers: PollsByCarrier;
}

type StatsWindows = Pick<StatsReading, 'window' | 'recent'>;

const SLOT_MS = STATS_SLOT_SECONDS * 1000;

export function slotAt(atMs: number): number {
  return Math.floor(atMs / SLOT_MS);
}

/** @returns the index of the first slot of the window that ends now. */
export function oldestSlot(nowMs: number): number {
  return slotAt(nowMs) - STATS_WINDOW_SECONDS / STATS_SLOT_SECONDS + 1;
}

/** @param sinceMs when counting began, epoch milliseconds. */
export function windowsOf(
  slots: ReadonlyMap<number, StatsSlot>,
  sinceMs: number,
  nowMs: number,
): StatsWindows {
  const from = (first: number) => ({
    ...sumOfSlots([...slots].filter(([slot]) => slot >= first).map(([, counted]) => counted)),
    // When counting began a minute ago, the window is one minute long.
    seconds: Math.max(1, (nowMs - Math.max(first * SLOT_MS, sinceMs)) / 1000),
  });
  const { succeeded, failed, seconds, durations } = from(slotAt(nowMs) - 1);
  const recent = { polls: succeeded + failed, succeeded, seconds, durations };
  return { window: from(oldestSlot(nowMs)), recent };
}

/** @param mostCarriers limits the carriers in the sum; without it the sum has all. */
export function sumOfSlots(slots: readonly StatsSlot[], mostCarriers?: number): StatsSlot {
  const sum = (field: keyof PollWindow | 'implausible') =>
    slots.reduce((total, slot) => total + slot[field], 0);
  return {
    succeeded: sum('succeeded'),
    failed: sum('failed'),
    durationMs: sum('durationMs'),
    succeededMs: sum('succeededMs'),
    implausible: sum('implausible'),
    durations: sumOfCounts(slots.map(({ durations }) => durations)),
    reasons: sumOfCounts(slots.map(({ reasons }) => reasons)),
    carriers: sumOfCarriers(
      slots.map(({ carriers }) => carriers),
      mostCarriers,
    ),
  };
}

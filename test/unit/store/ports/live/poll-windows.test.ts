import { expect, it } from 'vitest';
import { type StatsSlot, windowsOf } from '../../../../../src/store/ports/live/poll-stats.ts';

const NOW_MS = 1_000_000_000_000;
const NEWEST = NOW_MS / 10_000;

const slot = (succeeded: number, failed: number): StatsSlot => ({
  ...{ succeeded, failed, durationMs: 0, succeededMs: 0, implausible: 0, counters: 0, fallen: 0 },
  ...{ durations: {}, reasons: {}, carriers: new Map() },
});
/** @param slots the newest first; the newest one has just begun, and has no poll yet. */
const windows = (...slots: StatsSlot[]) =>
  windowsOf(new Map(slots.map((one, i) => [NEWEST - 1 - i, one])), 0, NOW_MS);

it('shows the last seconds, and further back while nothing failed, until there are enough polls to judge by', () => {
  const { now, lately } = windows(slot(12, 0), slot(6, 0), slot(8, 0), slot(9, 0));
  expect([now.succeeded, lately.succeeded]).toEqual([12, 26]);
});

it('judges nothing by what failed before the last polls', () => {
  const { now, lately } = windows(slot(12, 0), slot(3, 0), slot(0, 9), slot(20, 0));
  expect([now.succeeded, lately.succeeded, lately.failed]).toEqual([12, 15, 0]);
  expect(windows(slot(300, 0), slot(300, 0)).lately.succeeded).toBe(300);
});

// The schedule of one task type in numbers: what its rings ask for and how far they are behind. Used by task-stats.ts.
// Pure.
import { dueAt } from '../../domain/schedule/phase.ts';
import { rounded } from '../../domain/stats/rounded.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import { achievedIntervalMsOf } from '../schedule/achieved-interval.ts';

export interface ScheduleStats {
  /** Cards that the polling configs of the type hold, disabled ones included. */
  readonly scheduledCards: number;
  /** Polls a second that the enabled configs ask for. */
  readonly demandPerSecond: number;
  /** How far the schedule of the enabled configs is behind; 0 while it keeps up. */
  readonly scheduleLagSeconds: number;
  /** Cards that the lag keeps from being due. */
  readonly overdueCards: number;
  /** Of the ring that is worst off for its interval; null without a ring that runs. */
  readonly intervalSeconds: number | null;
  /** How often its cards are really polled. */
  readonly achievedIntervalSeconds: number | null;
  /** Revolutions that were left out, all rings of the type, since they were built. */
  readonly skippedRevolutions: number;
}

/** @param rings of one task type. */
export function scheduleStatsOf(rings: readonly RingState[], nowMs: number): ScheduleStats {
  const running = rings.filter((ring) => ring.enabled && ring.generation > 0);
  const paces = running
    .map((ring) => ({
      intervalMs: ring.intervalMs,
      achievedMs: achievedIntervalMsOf(ring, nowMs) ?? ring.intervalMs,
    }))
    .sort((a, b) => b.achievedMs / b.intervalMs - a.achievedMs / a.intervalMs);
  const [worst] = paces;
  return {
    scheduledCards: sum(rings.map((ring) => ring.members)),
    demandPerSecond: rounded(sum(running.map((ring) => (1000 * ring.members) / ring.intervalMs))),
    scheduleLagSeconds: Math.max(0, ...running.map((ring) => lagMsOf(ring, nowMs))) / 1000,
    overdueCards: Math.round(
      sum(running.map((ring) => (ring.members * lagMsOf(ring, nowMs)) / ring.intervalMs)),
    ),
    intervalSeconds: worst === undefined ? null : worst.intervalMs / 1000,
    achievedIntervalSeconds: worst === undefined ? null : rounded(worst.achievedMs / 1000),
    skippedRevolutions: sum(rings.map((ring) => ring.skippedRevolutions)),
  };
}

/** Milliseconds since the bucket under the cursor was due, one revolution at most: more than all its cards no ring owes. */
function lagMsOf(ring: RingState, nowMs: number): number {
  return Math.min(ring.intervalMs, Math.max(0, Math.round(nowMs - dueAt(ring, ring.cursor))));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

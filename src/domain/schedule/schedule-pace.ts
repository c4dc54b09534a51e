// The demand of one task type's rings, and how far they are behind. Used by everything that judges, samples or shows a schedule.
// Pure.
import { rounded, sum } from '../numbers.ts';
import { dueAt, type RingClock } from './phase.ts';

/** The facts of a ring that decide its pace. */
export interface PacedRing extends RingClock {
  readonly enabled: boolean;
  /** 0: configured, but never built. */
  readonly generation: number;
  readonly members: number;
  /** Number of whole revolutions that were skipped, since the ring exists. */
  readonly skippedRevolutions: number;
  /** How long the last whole revolution took; null before the first one, and after a change of interval or a pause. */
  readonly achievedIntervalMs: number | null;
  /** When the current revolution began; null before the cursor passed the ring's beginning. */
  readonly lapStartedAtMs: number | null;
}

export type SchedulePace = ReturnType<typeof schedulePaceOf>;

/**
 * @param rings of one task type.
 * @param waitMs how long a card that comes due now will wait; null: unknown
 */
export function schedulePaceOf(rings: readonly PacedRing[], nowMs: number, waitMs: number | null = 0) {
  const running = rings.filter((ring) => ring.enabled && ring.generation > 0);
  const paces = running
    .map((ring) => {
      const { intervalMs, members } = ring;
      const achievedMs = achievedIntervalMsOf(ring, nowMs, waitMs ?? 0);
      return { intervalMs, members, achievedMs, ratio: (achievedMs ?? intervalMs) / intervalMs };
    })
    .sort((a, b) => b.ratio - a.ratio || b.members - a.members);
  const [worst] = paces;
  const achievedMs = waitMs === null ? null : (worst?.achievedMs ?? null);
  return {
    scheduledCards: sum(rings.map((ring) => ring.members)),
    demandPerSecond: sum(running.map((ring) => (1000 * ring.members) / ring.intervalMs)),
    scheduleLagSeconds: Math.max(0, ...running.map((ring) => lagMsOf(ring, nowMs))) / 1000,
    // Cards that are not due yet only because the schedule is behind.
    overdueCards: Math.round(
      sum(running.map((ring) => (ring.members * lagMsOf(ring, nowMs)) / ring.intervalMs)),
    ),
    // Interval of the ring that is furthest behind; if several keep up, of the one with the most cards.
    intervalSeconds: worst === undefined ? null : worst.intervalMs / 1000,
    achievedIntervalSeconds: achievedMs === null ? null : rounded(achievedMs / 1000),
    skippedRevolutions: sum(rings.map((ring) => ring.skippedRevolutions)),
  };
}

/**
 * Milliseconds between two polls of a card: the configured interval while the ring and the polls of its cards keep up; otherwise
 * the longest of the last whole revolution, the current one so far, and the wait of a due card. null: not measured, because the
 * ring is disabled, or has made no whole revolution yet and is not late.
 */
export function achievedIntervalMsOf(ring: PacedRing, nowMs: number, waitMs = 0): number | null {
  if (!ring.enabled || ring.generation === 0) return null;
  const present = ring.lapStartedAtMs === null ? 0 : nowMs - ring.lapStartedAtMs;
  const { intervalMs, achievedIntervalMs } = ring;
  if (achievedIntervalMs === null && Math.max(present, waitMs) < intervalMs) return null;
  return Math.max(intervalMs, achievedIntervalMs ?? 0, present, waitMs);
}

/** Milliseconds since the bucket under the cursor was due, capped at one revolution: a ring never owes more than all its cards. */
function lagMsOf(ring: PacedRing, nowMs: number): number {
  return Math.min(ring.intervalMs, Math.max(0, Math.round(nowMs - dueAt(ring, ring.cursor))));
}

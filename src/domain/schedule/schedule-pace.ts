// What the rings of one task type ask for, and how far they are behind. Used by everything that judges, samples or shows
// a schedule. Pure.
import { rounded, sum } from '../numbers.ts';
import { dueAt, type RingClock } from './phase.ts';

/** What of a ring decides its pace. */
export interface PacedRing extends RingClock {
  readonly enabled: boolean;
  /** 0: configured, but never built. */
  readonly generation: number;
  readonly members: number;
  /** Whole revolutions that were left out, since the ring exists. */
  readonly skippedRevolutions: number;
  /** How long the last whole revolution took; null before the first one, and after a change of interval or a pause. */
  readonly achievedIntervalMs: number | null;
  /** When the present revolution began; null before the cursor passed the ring's beginning. */
  readonly lapStartedAtMs: number | null;
}

export type SchedulePace = ReturnType<typeof schedulePaceOf>;

/**
 * @param rings of one task type.
 * @param waitMs how long a card waits that comes due now; null: not known
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
    // Not due yet only because the schedule is behind.
    overdueCards: Math.round(
      sum(running.map((ring) => (ring.members * lagMsOf(ring, nowMs)) / ring.intervalMs)),
    ),
    // Of the ring that is furthest behind its interval; of several that keep up, the one with the most cards.
    intervalSeconds: worst === undefined ? null : worst.intervalMs / 1000,
    achievedIntervalSeconds: achievedMs === null ? null : rounded(achievedMs / 1000),
    skippedRevolutions: sum(rings.map((ring) => ring.skippedRevolutions)),
  };
}

/**
 * Milliseconds between two polls of a card: the configured interval while the ring and the polls of its cards keep up, else as
 * long as the last whole revolution took, or as the present one has lasted, or as a card waits that is due. null: not measured, because
 * the ring is disabled, or has made no whole revolution yet and is not late.
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

// How many cards are polled before a due card, and how long that takes. Used by task-explanation.ts. Pure.
import { dueAt } from '../../domain/schedule/phase.ts';
import type { StatsReading } from '../../store/ports/live/poll-stats.ts';
import type { RingState } from '../../store/ports/live/rings.ts';

/** Number of cards due before `dueMs` that the late schedule has not queued yet. */
export function overdueBefore(rings: readonly RingState[], dueMs: number): number {
  const owed = rings
    .filter((ring) => ring.enabled && ring.generation > 0)
    .map((ring) => {
      const lagMs = Math.min(ring.intervalMs, Math.max(0, dueMs - dueAt(ring, ring.cursor)));
      return (ring.members * lagMs) / ring.intervalMs;
    });
  return Math.round(owed.reduce((sum, cards) => sum + cards, 0));
}

/** Polls per second at present; 0 when none ended lately. */
export function presentRate({ recent }: StatsReading): number {
  return recent.polls / recent.seconds;
}

/**
 * Seconds until `cards` scheduled cards are polled; null when nothing is polled. Manual work takes half of the polls as
 * long as there is any.
 */
export function secondsToPoll(cards: number, manualLength: number, perSecond: number): number | null {
  if (cards === 0) return 0;
  return perSecond === 0 ? null : (cards + Math.min(cards, manualLength)) / perSecond;
}

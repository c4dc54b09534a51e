// How often the cards of a ring are really polled. Used by configs.ts and whatever judges or shows the schedule; pure.
import type { RingState } from '../../store/ports/live/rings.ts';

/**
 * Milliseconds between two polls of a card: the configured interval while the ring keeps up, else as long as the last
 * whole revolution took, or as the present one lasts already. null: the ring is off or was never built.
 */
export function achievedIntervalMsOf(ring: RingState, nowMs: number): number | null {
  if (!ring.enabled || ring.generation === 0) return null;
  const present = ring.lapStartedAtMs === null ? 0 : nowMs - ring.lapStartedAtMs;
  return Math.max(ring.intervalMs, ring.achievedIntervalMs ?? 0, present);
}

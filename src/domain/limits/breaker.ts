// A breaker as operators see it: whether calls to a part of the gateway are held back. The rules are
// src/gateway/throttle.ts.

export type BreakerState = 'closed' | 'open' | 'half_open';

export interface BreakerReport {
  /** Name of the interface, or `gateway` for the one that concerns all of them. */
  readonly interface: string;
  /** open: only a trickle passes. half_open: from the first success of the trickle until calls are unlimited again. */
  readonly state: BreakerState;
  /** Since when it holds calls back, whatever its calls came to meanwhile; while closed, since when it is. */
  readonly sinceMs: number;
  /** Why it is in this state; null while closed. */
  readonly reason: string | null;
  /** When the next call of the trickle may go; null unless open. */
  readonly nextProbeAtMs: number | null;
}

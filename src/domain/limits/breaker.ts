// A breaker as operators see it: whether calls to a part of the gateway are held back. src/gateway/flow/throttle.ts has the
// rules.

import type { FaultKind } from '../gateway-fault.ts';

export type BreakerState = 'closed' | 'open' | 'half_open';

export interface BreakerReport {
  /** Name of the interface, or `gateway` for all of them. */
  readonly interface: string;
  /** open: only a trickle passes. half_open: from the first success of the trickle until calls are unlimited again. */
  readonly state: BreakerState;
  /** Start of the outage, also while half open; while closed, when it closed. */
  readonly sinceMs: number;
  /** Why it is in this state; null while closed. */
  readonly reason: string | null;
  /** How the last call failed; null while it is not open; absent in an older version. */
  readonly kind?: FaultKind | null;
  /** When the next call of the trickle may go; null unless open. */
  readonly nextProbeAtMs: number | null;
}

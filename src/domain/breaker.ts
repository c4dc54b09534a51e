// A breaker as operators see it: stops calls to a part of the gateway that fails, and tries from time to time whether it
// is back. The rules are src/gateway/breaker.ts.

export type BreakerState = 'closed' | 'open' | 'half_open';

export interface BreakerReport {
  /** Name of the interface, or `gateway` for the one that concerns all of them. */
  readonly interface: string;
  /** half_open from the first probe until calls are unlimited again. */
  readonly state: BreakerState;
  /** Since when it holds calls back, however many probes failed; while closed, since when it is. */
  readonly sinceMs: number;
  /** Why it is in this state; null while closed. */
  readonly reason: string | null;
  /** When the next probe may go; null unless open. */
  readonly nextProbeAtMs: number | null;
}

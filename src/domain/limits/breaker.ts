// A breaker as operators see it: whether calls to a part of the gateway are held back. The rules are
// src/gateway/flow/throttle.ts.

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
  /** When the next call of the trickle may go; null unless open. */
  readonly nextProbeAtMs: number | null;
}

/** How the reason of a call begins for which there was no token to be had, of OAuth 2 or a login. */
const NO_TOKEN = 'no token';

/** It holds calls back because none gets a token: the gateway itself may be well. */
export function failsAtLogin({ state, reason }: Pick<BreakerReport, 'state' | 'reason'>): boolean {
  return state === 'open' && reason !== null && reason.includes(`: ${NO_TOKEN}`);
}

// Vendors that take minutes for a call, and report it: an order is in progress while the vendor works on its call, for as long as
// the profile allows (`pending`, docs/gateways.md). Meanwhile no further call is made for the card, and its status is requested
// at growing intervals. Used by the rules (decide.ts) and by the code that writes them. Pure.

/** An order's record of the work on its last call. */
export interface VendorWork {
  /**
   * Since when the gateway has acknowledged calls, or reported work on one, without showing their effect; null: no call is
   * pending.
   */
  readonly pendingSince: number | null;
  /** Latest end of the vendor's reported work on the card; null: no report. */
  readonly pendingUntil: number | null;
}

type Claimed = VendorWork & { readonly claimedUntil: number | null };

export const NO_WORK: VendorWork = { pendingSince: null, pendingUntil: null };

/**
 * The status is first requested after this time, and then after intervals that double since the start of the work, up to the
 * longest step.
 */
const FIRST_LOOK_MS = 10_000;
const LONGEST_LOOK_MS = 120_000;

export function isUnderWay({ pendingUntil }: VendorWork, now: number): boolean {
  return pendingUntil !== null && pendingUntil > now;
}

/** The vendor's time is over, so its work is not awaited any more. */
export function isOverdue({ pendingUntil }: VendorWork, now: number): boolean {
  return pendingUntil !== null && pendingUntil <= now;
}

/** The report came in the answer to the last call itself: the claim of a call lasts as long as the work on it. */
export function isOfCall({ pendingUntil, claimedUntil }: Claimed): boolean {
  return pendingUntil !== null && claimedUntil !== null && claimedUntil >= pendingUntil;
}

/** The gateway reports work on the card. @param forMs longest time of the work */
export function workSeen({ pendingSince, pendingUntil }: VendorWork, now: number, forMs: number): VendorWork {
  const isKnown = isUnderWay({ pendingSince, pendingUntil }, now);
  return { pendingSince: pendingSince ?? now, pendingUntil: isKnown ? pendingUntil : now + forMs };
}

/** When to request the status next. */
export function nextLookAt({ pendingSince, pendingUntil }: VendorWork, now: number): number {
  const sinceMs = now - (pendingSince ?? now);
  const at = now + Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, sinceMs));
  return Math.min(at, pendingUntil ?? at);
}

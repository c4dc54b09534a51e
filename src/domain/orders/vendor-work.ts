// Vendors that carry out a call in minutes, and say so: an order is under way while the vendor works on its call, for as long as the
// profile allows (`pending`, docs/gateways.md). No further call is made for the card meanwhile, and its status is asked in growing steps.
// Used by the rules (decide.ts) and by what writes them. Pure.

/** What an order keeps of the work on its last call. */
export interface VendorWork {
  /** Since when the gateway acknowledged calls, or said that it works on one, and did not show their effect; null: nothing is awaited. */
  readonly pendingSince: number | null;
  /** The vendor works on the card until then at most, as it said; null: it does not say so. */
  readonly pendingUntil: number | null;
}

type Claimed = VendorWork & { readonly claimedUntil: number | null };

export const NO_WORK: VendorWork = { pendingSince: null, pendingUntil: null };

/** The status is asked first after this time, and each time twice as long after the work began, up to the longest step. */
const FIRST_LOOK_MS = 10_000;
const LONGEST_LOOK_MS = 120_000;

export function isUnderWay({ pendingUntil }: VendorWork, now: number): boolean {
  return pendingUntil !== null && pendingUntil > now;
}

/** The vendor was to be done by now: no longer is anything awaited of it. */
export function isOverdue({ pendingUntil }: VendorWork, now: number): boolean {
  return pendingUntil !== null && pendingUntil <= now;
}

/** The last call itself was answered so: the claim of a call lasts as long as the work on it. */
export function isOfCall({ pendingUntil, claimedUntil }: Claimed): boolean {
  return pendingUntil !== null && claimedUntil !== null && claimedUntil >= pendingUntil;
}

/** The gateway says that it works on the card. @param forMs as long as that may take */
export function workSeen({ pendingSince, pendingUntil }: VendorWork, now: number, forMs: number): VendorWork {
  const isKnown = isUnderWay({ pendingSince, pendingUntil }, now);
  return { pendingSince: pendingSince ?? now, pendingUntil: isKnown ? pendingUntil : now + forMs };
}

/** When the status is asked next. */
export function nextLookAt({ pendingSince, pendingUntil }: VendorWork, now: number): number {
  const sinceMs = now - (pendingSince ?? now);
  const at = now + Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, sinceMs));
  return Math.min(at, pendingUntil ?? at);
}

// Whether the time between two readings of a card could have carried the growth between them. A gateway that changes its
// unit, or answers for another card, shows growth that no SIM card can have transferred. Used by usage-month.ts.

/** Time between the gateway's measurement and the poll, for which a reading is not yet implausible. */
const SLACK_MS = 1_000;
/** Readings are rounded, to a megabyte at most. */
const ROUNDING_MB = 1;
const BITS_PER_BYTE = 8;

/** @param maxMbitPerSecond setting `usage.max_mbit_per_second` */
export function couldCarry(growthMb: number, elapsedMs: number, maxMbitPerSecond: number): boolean {
  const seconds = (Math.max(0, elapsedMs) + SLACK_MS) / 1_000;
  return growthMb <= (seconds * maxMbitPerSecond) / BITS_PER_BYTE + ROUNDING_MB;
}

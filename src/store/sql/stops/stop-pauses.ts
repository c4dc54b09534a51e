// Pauses between calls that stop or resume one card. Used by stops.ts and resumes.ts.

/** Between calls that are acknowledged without effect: from half a minute, doubling, to an hour. */
export const FIRST_PAUSE_MS = 30_000;
export const LONGEST_PAUSE_MS = 3_600_000;

/** A card with an order is given to the queue again after this time, should the queue have lost it. */
export const DUE_AGAIN_MS = 60_000;

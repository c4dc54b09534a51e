// A jump: a reading that was believed, and is more than twenty times as high as all before it, or less than a twentieth,
// which looks like a restart. It may be a wrong answer (another unit, another card) that was believed because enough time
// had passed, or because it came twice. So the state before it is kept with the card for two days, and a reading that is
// back there takes off what the jump, or the way back from it, counted. Used by usage-month.ts.

/** The higher one of two readings is more than this many times the lower one. */
const JUMP_FACTOR = 20;
/** Counters begin near 0, so small growth is often twentyfold. */
const SMALL_MB = 1;
/** A jump that was not disproved for this long is true. */
const REVOCABLE_MS = 172_800_000;

export interface ReadingJump {
  /** The highest reading before the jump; more than the present one after a restart. */
  readonly fromMb: number;
  /** The month's usage before the jump; null: the jump was in an earlier month, which is closed. */
  readonly fromUsedMb: number | null;
  /** When it was read, epoch milliseconds. */
  readonly atMs: number;
}

export function isJump(fromMb: number, toMb: number): boolean {
  return fromMb > 0 && toMb > JUMP_FACTOR * fromMb && toMb - fromMb > SMALL_MB;
}

/** The jump that a reading of this time and month may still disprove. */
export function revocable(
  jump: ReadingJump | null,
  { atMs, opensMonth }: { readonly atMs: number; readonly opensMonth: boolean },
): ReadingJump | null {
  if (jump === null || atMs - jump.atMs > REVOCABLE_MS) return null;
  return {
    ...jump,
    fromUsedMb: opensMonth ? null : jump.fromUsedMb,
    // A clock that was ahead must not extend the two days.
    atMs: Math.min(jump.atMs, atMs),
  };
}

/**
 * Whether a reading far below the highest one shows that the counter was never there. Below half of the reading
 * before the jump it may as well have restarted; 0 is what a broken gateway shows.
 */
export function disproves(jump: ReadingJump, shownMb: number): boolean {
  return shownMb > 0 && shownMb >= jump.fromMb / 2;
}

/** Whether growth reaches the counter before a restart, but for rounding. */
export function passes(jump: ReadingJump, highestMb: number, shownMb: number): boolean {
  return jump.fromMb > highestMb && shownMb >= jump.fromMb - SMALL_MB;
}

// Usage per card and calendar month (operations interface, section 1: carddata is tracked across calendar months).
//
// The gateway's reading is cumulative within its month. Its faults in real fleets must not count a megabyte
// twice; when two explanations fit, the one that counts less wins, since counting too much could stop a card within its
// package (docs/decisions/0004-usage-month.md).
//   - It grows: the growth is new usage. This also holds at the turn of a month: a reading that is not smaller means that
//     the upstream counter has not been reset yet, so only its growth belongs to the new month.
//   - It grows by more than the time could have carried: nothing changes until enough time has passed.
//   - It grows more than twentyfold, or restarts at less than a twentieth: a jump. The state before it is kept for two days,
//     and restored if a reading is back.
//   - It dips, to not less than half: a correction. Nothing changes; growth is still counted from the highest reading.
//   - It falls below half: the counter was reset, or the answer was wrong. The first such reading is only a suspicion and
//     counts nothing. The next one confirms it, and then counts in full as new usage, or disproves it by being back. At
//     the turn of a month the same holds; the suspicion opens the row of the new month with no usage. A restart is expected
//     then, so a next reading that is not nearly back confirms it, even if it has grown past half.
//   - It arrives late (taken before the last one kept): it is ignored.
//   - It is the first one of another ICCID: it is the baseline of a new series and adds nothing, because most of what it shows may
//     be what another card has used. What the card used before stays counted.

/** A stored reading that is this much newer than the present one comes from a clock that was ahead. */
const CLOCK_AHEAD_MS = 3_600_000;
/** A broken gateway often reports 0: a 0 confirms a reset only after it lasted this long. */
const ZERO_STANDS_MS = 86_400_000;
/** Time between the gateway's measurement and the poll, for which a reading is not yet implausible. */
const SLACK_MS = 1_000;
/** Readings are rounded, to a megabyte at most. */
const ROUNDING_MB = 1;
const BITS_PER_BYTE = 8;
/** The higher one of two readings is more than this many times the lower one; one part in so many is a correction at any time. */
const JUMP_FACTOR = 20;
/** Counters begin near 0, so small growth is often twentyfold. */
const SMALL_MB = 1;
/** A jump that was not disproved for this long is true. */
const REVOCABLE_MS = 172_800_000;

export interface UsageMonth {
  /** Calendar month in the configured time zone, YYYY-MM. */
  readonly month: string;
  readonly usedMb: number;
  /** The highest reading since the counter of the gateway was last reset. */
  readonly lastReadingMb: number;
  /** A reading below half of `lastReadingMb`, which the next one must confirm; null: none. */
  readonly suspectedMb: number | null;
  /** A jump of the reading that a later one may disprove; null: none. */
  readonly jump: ReadingJump | null;
  /** Time of the last reading that changed something, epoch milliseconds. */
  readonly readAtMs: number;
  /** The readings are of an ICCID that the card has no more, or not again. */
  readonly ofFormerIccid?: true;
}

/**
 * A jump: a reading that was believed, and is more than twenty times as high as all before it, or less than a twentieth,
 * which looks like a restart. It may be a wrong answer (another unit, another card) that was believed because enough time
 * had passed, or because it came twice. So the state before it is kept with the card for two days, and a reading that is
 * back there takes off what the jump, or the way back from it, counted.
 */
export interface ReadingJump {
  /** The highest reading before the jump; more than the present one after a restart. */
  readonly fromMb: number;
  /** The month's usage before the jump; null: the jump was in an earlier month, which is closed. */
  readonly fromUsedMb: number | null;
  /** When it was read, epoch milliseconds. */
  readonly atMs: number;
}

interface Reading {
  /** The cumulative value from the gateway. */
  readonly usedMb: number;
  readonly atMs: number;
  /** The month of that instant. */
  readonly month: string;
}

/**
 * Folds one reading into a card's usage.
 * @param maxMbitPerSecond the most that a card can transfer
 * @returns the card's new usage, or null when the reading changes nothing (same value or a dip in the same month, late
 * or implausible).
 */
export function applyReading(
  last: UsageMonth | null,
  reading: Reading,
  maxMbitPerSecond: number,
): UsageMonth | null {
  const { usedMb: shownMb, atMs, month } = reading;
  if (last === null) {
    return { month, usedMb: shownMb, lastReadingMb: shownMb, suspectedMb: null, jump: null, readAtMs: atMs };
  }
  const wasAhead = last.readAtMs - atMs > CLOCK_AHEAD_MS;
  if (atMs <= last.readAtMs && !wasAhead) return null;
  if (last.ofFormerIccid) return baselineAfter(last, reading);
  if (isImplausible(last, reading, maxMbitPerSecond)) return null;
  const next = judge(begun(last, reading), reading, maxMbitPerSecond);
  return wasAhead || differs(last, next) ? next : null;
}

/** The first reading of a SIM that the card did not have before. */
function baselineAfter(last: UsageMonth, { usedMb: shownMb, atMs, month }: Reading): UsageMonth {
  const usedMb = month > last.month ? 0 : last.usedMb;
  return {
    month: month > last.month ? month : last.month,
    usedMb,
    lastReadingMb: shownMb,
    suspectedMb: null,
    jump: null,
    readAtMs: atMs,
  };
}

/**
 * Whether a reading has grown by more than the time since the stored one could have carried. It then counts nothing and
 * changes nothing: that time goes on, and the reading is believed when enough of it has passed.
 */
export function isImplausible(
  last: UsageMonth | null,
  { usedMb: shownMb, atMs }: Pick<Reading, 'usedMb' | 'atMs'>,
  maxMbitPerSecond: number,
): boolean {
  if (last === null || last.ofFormerIccid || atMs <= last.readAtMs) return false;
  return !couldCarry(shownMb - last.lastReadingMb, atMs - last.readAtMs, maxMbitPerSecond);
}

/**
 * Whether the time between two readings of a card could have carried the growth between them. A gateway that changes its
 * unit, or answers for another card, shows growth that no SIM card can have transferred.
 * @param maxMbitPerSecond setting `usage.max_mbit_per_second`
 */
function couldCarry(growthMb: number, elapsedMs: number, maxMbitPerSecond: number): boolean {
  const seconds = (Math.max(0, elapsedMs) + SLACK_MS) / 1_000;
  return growthMb <= (seconds * maxMbitPerSecond) / BITS_PER_BYTE + ROUNDING_MB;
}

/**
 * The state before a reading, in the month that the reading counts in. A month that was opened too early, by a clock that
 * was ahead or by another time zone, keeps the readings from before its start: the repair (engine/work/reaper.ts) adds them
 * to the present month.
 */
function begun(last: UsageMonth, { month, atMs }: Reading): UsageMonth {
  const opensMonth = month > last.month;
  const jump = revocable(last.jump, atMs, opensMonth);
  return opensMonth ? { ...last, month, usedMb: 0, jump } : { ...last, jump };
}

/** The meaning of a reading: the state after it. */
function judge(last: UsageMonth, reading: Reading, maxMbitPerSecond: number): UsageMonth {
  const { usedMb: shownMb, atMs } = reading;
  const { lastReadingMb: highestMb, suspectedMb, usedMb, jump } = last;
  const certain = { ...last, suspectedMb: null, readAtMs: atMs };
  if (shownMb >= highestMb) return { ...certain, ...grown(last, reading, maxMbitPerSecond) };
  if (isCorrection(last, shownMb)) return certain;
  // A counter that was reset does not fall: a reading far below the suspected one is a new suspicion.
  const confirms = suspectedMb !== null && !isFarBelow(shownMb, suspectedMb);
  // After the turn of a month too little would be taken off if this were the wrong answer: it takes two readings.
  if (jump !== null && disproves(jump, shownMb) && (jump.fromUsedMb !== null || confirms)) {
    const back = isBack(jump, reading, maxMbitPerSecond);
    return { ...certain, ...restored(jump, usedMb, shownMb), jump: back ? null : jump };
  }
  if (confirms && (shownMb > 0 || atMs - last.readAtMs >= ZERO_STANDS_MS)) {
    return {
      ...certain,
      usedMb: usedMb + shownMb,
      lastReadingMb: shownMb,
      jump: jumpOfRestart(last, reading),
    };
  }
  return { ...last, suspectedMb: shownMb, readAtMs: atMs };
}

type Counted = Pick<UsageMonth, 'usedMb' | 'lastReadingMb'>;

/** A reading that is not smaller than the highest one. */
function grown(
  { lastReadingMb: highestMb, usedMb, jump }: UsageMonth,
  reading: Reading,
  maxMbitPerSecond: number,
): Counted & Pick<UsageMonth, 'jump'> {
  const { usedMb: shownMb, atMs } = reading;
  const counted = { usedMb: usedMb + (shownMb - highestMb), lastReadingMb: shownMb };
  const passed = jump !== null && passes(jump, highestMb, shownMb);
  if (!isJump(highestMb, shownMb)) return { ...counted, jump: passed ? null : jump };
  if (passed && isBack(jump, reading, maxMbitPerSecond)) {
    return { ...restored(jump, counted.usedMb, shownMb), jump: null };
  }
  const isFurther = jump !== null && jump.fromMb <= highestMb;
  return {
    ...counted,
    jump: isFurther ? { ...jump, atMs } : { fromMb: highestMb, fromUsedMb: usedMb, atMs },
  };
}

/** The count before a jump with the growth since: at most what is counted otherwise. */
function restored({ fromMb, fromUsedMb }: ReadingJump, usedMb: number, shownMb: number): Counted {
  return {
    usedMb: Math.min(usedMb, (fromUsedMb ?? 0) + Math.max(0, shownMb - fromMb)),
    lastReadingMb: Math.max(shownMb, fromMb),
  };
}

/** Whether the jump is over, so that there is nothing more to take off. */
function isBack(
  { fromMb, atMs: jumpedAtMs }: ReadingJump,
  { usedMb: shownMb, atMs }: Reading,
  maxMbitPerSecond: number,
): boolean {
  return !isJump(fromMb, shownMb) && couldCarry(shownMb - fromMb, atMs - jumpedAtMs, maxMbitPerSecond);
}

/** What a confirmed restart leaves to be disproved. */
function jumpOfRestart(last: UsageMonth, { usedMb: shownMb, atMs }: Reading): ReadingJump | null {
  const { lastReadingMb: highestMb, usedMb, jump } = last;
  // The counter before the first restart is the one that may come back.
  if (jump !== null && jump.fromMb > highestMb) return jump;
  // Readings that were wrong before may be wrong still: what they count from here on can be taken off.
  if (jump !== null) return { fromMb: 0, fromUsedMb: usedMb, atMs: jump.atMs };
  return isJump(shownMb, highestMb) && !isRestartExpected(last)
    ? { fromMb: highestMb, fromUsedMb: usedMb, atMs }
    : null;
}

/** At the turn of a month a restart is expected: most of the counter belongs to the month before. */
function isRestartExpected({ usedMb, lastReadingMb: highestMb }: UsageMonth): boolean {
  return usedMb < highestMb / 2;
}

function isFarBelow(shownMb: number, highestMb: number): boolean {
  return shownMb < highestMb / 2;
}

/** Whether a reading below the highest one still belongs to the same counter. */
function isCorrection(last: UsageMonth, shownMb: number): boolean {
  const { lastReadingMb: highestMb, suspectedMb } = last;
  // After two low readings when a restart is expected, only one that is nearly back speaks against it.
  if (suspectedMb !== null && isRestartExpected(last)) return shownMb >= highestMb - highestMb / JUMP_FACTOR;
  return !isFarBelow(shownMb, highestMb);
}

function differs(last: UsageMonth, next: UsageMonth): boolean {
  return (
    next.month !== last.month ||
    next.lastReadingMb !== last.lastReadingMb ||
    next.suspectedMb !== last.suspectedMb
  );
}

function isJump(fromMb: number, toMb: number): boolean {
  return fromMb > 0 && toMb > JUMP_FACTOR * fromMb && toMb - fromMb > SMALL_MB;
}

/** The jump that a reading of this time and month may still disprove. */
function revocable(jump: ReadingJump | null, atMs: number, opensMonth: boolean): ReadingJump | null {
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
function disproves(jump: ReadingJump, shownMb: number): boolean {
  return shownMb > 0 && shownMb >= jump.fromMb / 2;
}

/** Whether growth reaches the counter before a restart, but for rounding. */
function passes(jump: ReadingJump, highestMb: number, shownMb: number): boolean {
  return jump.fromMb > highestMb && shownMb >= jump.fromMb - SMALL_MB;
}

/** Usage in `month`: 0 when the newest reading belongs to another month. */
export function usedInMonth(usage: UsageMonth | null, month: string): number {
  return usage !== null && usage.month === month ? usage.usedMb : 0;
}

// Usage per card and calendar month (operations interface, section 1: carddata is tracked across calendar months).
//
// The gateway's reading is cumulative within its month. Its faults in real fleets must not count a megabyte twice; when two
// explanations fit, the one that counts less wins, since counting too much could stop a card within its package
// (docs/decisions/0004-usage-month.md).
//   - It grows: the growth is new usage. This also holds at the turn of a month: a reading that is not smaller means that
//     the upstream counter has not been reset yet, so only its growth belongs to the new month.
//   - It grows by more than the time could have carried: nothing changes until enough time has passed.
//   - It grows by more than half at once: a step, which may be another unit or another counter. The state before it is
//     kept for two days, and restored by a reading that is nearer to that state.
//   - It dips, to not less than half: a correction. Nothing changes; growth is still counted from the highest reading.
//   - It falls below half: the counter was reset, the answer was wrong, or it came from another node that lags. This is a
//     suspicion, and counts nothing. Within a month it takes a day without a reading of the former counter, and growth,
//     to believe the restart, and no second one is believed. When a month turns a restart is expected: the next low
//     reading confirms it.
//   - After a restart the former counter is kept, for the month or, at its turn, for two days. If it returns, nothing has
//     restarted, and the usage is the former one plus its growth.
//   - It arrives late (taken before the last one kept): it is ignored.
//   - It is the first one of another ICCID: it is the baseline of a new series and adds nothing, because most of it may
//     be the usage of another card. The card's earlier usage stays counted.

/** A stored reading that is this much newer than the current one comes from a clock that was ahead. */
const CLOCK_AHEAD_MS = 3_600_000;
/** Tolerance for the time between the gateway's measurement and the poll, in which a reading is still plausible. */
const SLACK_MS = 1_000;
/** Readings are rounded, to a megabyte at most. */
const ROUNDING_MB = 1;
const BITS_PER_BYTE = 8;
/** In a step the higher reading is more than this many times the lower one. */
const STEP_FACTOR = 1.5;
/** Counters begin near 0, so small growth is often severalfold. */
const SMALL_MB = 1;
/** At the turn of a month a reading belongs to the former counter if at most this share of it is missing. */
const NEARLY_BACK = 0.05;
/** A restart within a month is believed after this long without a reading of the former counter: no node lags for longer. */
const RESTART_STANDS_MS = 86_400_000;
/** A step, or the restart of a new month, is true if it is not disproved for this long. */
export const REVOCABLE_MS = 172_800_000;

export interface UsageMonth {
  /** Calendar month in the configured time zone, YYYY-MM. */
  readonly month: string;
  readonly usedMb: number;
  /** The highest reading since the counter of the gateway was last reset. */
  readonly lastReadingMb: number;
  /** The first reading below half of `lastReadingMb`, taken at `readAtMs`, which others must confirm; null: none. */
  readonly suspectedMb: number | null;
  /** A step or a restart that a later reading may disprove; null: none. */
  readonly jump: ReadingJump | null;
  /** Time of the last reading that changed something, epoch milliseconds. */
  readonly readAtMs: number;
  /** The readings belong to an ICCID that the card no longer has. */
  readonly ofFormerIccid?: true;
}

/**
 * The state before a step or before a restart that was believed. Both may be wrong answers (another unit, another card, another
 * node of the gateway). It is a restart if `fromMb` is more than the highest reading since.
 */
export interface ReadingJump {
  /** The highest reading of the counter before. */
  readonly fromMb: number;
  /** The month's usage before it; null: it was in an earlier month, which is closed. */
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

/**
 * Judges the counter of a card that has used something in this month by a reading. A counter that fell stays below half of the
 * highest reading: the gateway shows no usage any more, or the counter has restarted within the month.
 * @param next the usage after the reading; null: it has changed nothing
 * @returns null: the card has used less than a megabyte, or the month has begun and its counter may restart
 */
export function counterIn(
  last: UsageMonth | null,
  next: UsageMonth | null,
  { usedMb: shownMb }: Pick<Reading, 'usedMb'>,
): 'counts' | 'fallen' | null {
  if (last === null || last.lastReadingMb < SMALL_MB || isRestartExpected(last)) return null;
  const isSuspected = last.suspectedMb !== null && (next ?? last).suspectedMb !== null;
  return isSuspected && shownMb < last.lastReadingMb / 2 ? 'fallen' : 'counts';
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
 * Whether a reading has grown by more than the time since the stored one could have carried. Such a reading counts nothing and
 * changes nothing: the time continues, and the reading is believed when enough of it has passed.
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
 * The state before a reading, in the month that the reading counts in. A month that was opened too early, by a clock that was
 * ahead or by another time zone, keeps the readings from before its start: the repair (engine/work/reaper.ts) adds them to the
 * current month.
 */
function begun(last: UsageMonth, { month, atMs }: Reading): UsageMonth {
  const opensMonth = month > last.month;
  const jump = revocable(last, atMs, opensMonth);
  return opensMonth ? { ...last, month, usedMb: 0, jump } : { ...last, jump };
}

/** The meaning of a reading: the state after it. */
function judge(last: UsageMonth, reading: Reading, maxMbitPerSecond: number): UsageMonth {
  const { usedMb: shownMb, atMs } = reading;
  const { lastReadingMb: highestMb, suspectedMb, usedMb, jump } = last;
  const certain = { ...last, suspectedMb: null, readAtMs: atMs };
  if (shownMb >= highestMb) return { ...certain, ...grown(last, reading, maxMbitPerSecond) };
  // A restarted counter does not fall: a reading far below the suspected one is a new suspicion.
  const isSecond = suspectedMb !== null && !isFarBelow(shownMb, suspectedMb);
  // After the turn of a month a wrong answer here would subtract too little, so two readings are required.
  if (jump !== null && disproves(jump, last, shownMb) && (jump.fromUsedMb !== null || isSecond)) {
    const back = isBack(jump, reading, maxMbitPerSecond);
    return { ...certain, ...restored(jump, usedMb, shownMb), jump: back ? null : jump };
  }
  if (isCorrection(last, shownMb)) return certain;
  if (!isSecond)
    return suspectedMb !== null && shownMb === 0 ? last : { ...last, suspectedMb: shownMb, readAtMs: atMs };
  if (!confirms(last, reading)) return last;
  return { ...certain, usedMb: usedMb + shownMb, lastReadingMb: shownMb, jump: jumpOfRestart(last, reading) };
}

/** Whether a further low reading shows that the counter restarted. */
function confirms(last: UsageMonth, { usedMb: shownMb, atMs }: Reading): boolean {
  const { suspectedMb, lastReadingMb: highestMb, readAtMs: suspectedAtMs } = last;
  const stands = atMs - suspectedAtMs >= RESTART_STANDS_MS;
  if (isRestartExpected(last))
    return shownMb > 0 ? stands || isNearer(shownMb, suspectedMb ?? 0, highestMb) : stands;
  return stands && shownMb > (suspectedMb ?? 0) && restartOf(last) === null;
}

type Counted = Pick<UsageMonth, 'usedMb' | 'lastReadingMb'>;

/** The state after a reading that is not below the highest one. */
function grown(
  last: UsageMonth,
  reading: Reading,
  maxMbitPerSecond: number,
): Counted & Pick<UsageMonth, 'jump'> {
  const { lastReadingMb: highestMb, usedMb } = last;
  const { usedMb: shownMb, atMs } = reading;
  const counted = { usedMb: usedMb + (shownMb - highestMb), lastReadingMb: shownMb };
  const restart = restartOf(last);
  if (restart !== null && returns(restart, highestMb, shownMb) && isBack(restart, reading, maxMbitPerSecond))
    return { ...restored(restart, counted.usedMb, shownMb), jump: null };
  if (restart !== null && shownMb < restart.fromMb - SMALL_MB) return { ...counted, jump: restart };
  const before = restart === null ? last.jump : null;
  // Of two steps, the larger one may be wrong: counters begin near 0, and small growth is a step, too.
  const isLarger = before === null || shownMb * before.fromMb > highestMb * highestMb;
  const isKept = isStep(highestMb, shownMb) && isLarger;
  return { ...counted, jump: isKept ? { fromMb: highestMb, fromUsedMb: usedMb, atMs } : before };
}

/** The count before a jump plus the growth since, at most the present count. */
function restored({ fromMb, fromUsedMb }: ReadingJump, usedMb: number, shownMb: number): Counted {
  return {
    usedMb: Math.min(usedMb, (fromUsedMb ?? 0) + Math.max(0, shownMb - fromMb)),
    lastReadingMb: Math.max(shownMb, fromMb),
  };
}

/** Whether the jump is over, so that nothing can be subtracted any more. */
function isBack(
  { fromMb, atMs: jumpedAtMs }: ReadingJump,
  { usedMb: shownMb, atMs }: Reading,
  maxMbitPerSecond: number,
): boolean {
  return !isStep(fromMb, shownMb) && couldCarry(shownMb - fromMb, atMs - jumpedAtMs, maxMbitPerSecond);
}

/** The jump of a confirmed restart, which a later reading may disprove. */
function jumpOfRestart(last: UsageMonth, { atMs }: Reading): ReadingJump {
  const { lastReadingMb: highestMb, usedMb, jump } = last;
  // Readings that were wrong before may still be wrong: what they count from now on can be subtracted.
  const isOfStep = jump !== null && restartOf(last) === null;
  return isOfStep
    ? { fromMb: 0, fromUsedMb: usedMb, atMs: jump.atMs }
    : { fromMb: highestMb, fromUsedMb: usedMb, atMs };
}

/** At the turn of a month a restart is expected: most of the counter belongs to the month before. */
function isRestartExpected({ usedMb, lastReadingMb: highestMb }: Counted): boolean {
  return usedMb < highestMb / 2;
}

function isFarBelow(shownMb: number, highestMb: number): boolean {
  return shownMb < highestMb / 2;
}

/** Whether a reading below the highest one still belongs to the same counter. */
function isCorrection(last: UsageMonth, shownMb: number): boolean {
  const { lastReadingMb: highestMb, suspectedMb } = last;
  // After a low reading when a restart is expected, only a reading that is nearly back disproves the restart.
  if (suspectedMb !== null && isRestartExpected(last)) return shownMb >= highestMb - NEARLY_BACK * highestMb;
  return !isFarBelow(shownMb, highestMb);
}

function differs(last: UsageMonth, next: UsageMonth): boolean {
  return (
    next.month !== last.month ||
    next.lastReadingMb !== last.lastReadingMb ||
    next.suspectedMb !== last.suspectedMb
  );
}

function isStep(fromMb: number, toMb: number): boolean {
  return fromMb > 0 && toMb > STEP_FACTOR * fromMb && toMb - fromMb > SMALL_MB;
}

/** Whether a reading is nearer to one counter than to a higher one. */
function isNearer(shownMb: number, lowerMb: number, higherMb: number): boolean {
  return shownMb - lowerMb < higherMb - shownMb;
}

/** The restart that may be disproved: the counter before was higher than all since. */
function restartOf({ jump, lastReadingMb: highestMb }: UsageMonth): ReadingJump | null {
  return jump !== null && jump.fromMb > highestMb ? jump : null;
}

/** The jump that a reading of this time and month may still disprove. */
function revocable(last: UsageMonth, atMs: number, opensMonth: boolean): ReadingJump | null {
  const { jump } = last;
  if (jump === null) return null;
  const restart = opensMonth ? null : restartOf(last);
  const lastsForMonth = restart !== null && isWithinMonth(restart);
  if (!lastsForMonth && atMs - jump.atMs > REVOCABLE_MS) return null;
  return {
    ...jump,
    fromUsedMb: opensMonth ? null : jump.fromUsedMb,
    // A clock that was ahead must not extend the two days.
    atMs: Math.min(jump.atMs, atMs),
  };
}

/** A restart that was not expected. */
function isWithinMonth({ fromMb, fromUsedMb }: ReadingJump): boolean {
  return fromUsedMb !== null && !isRestartExpected({ usedMb: fromUsedMb, lastReadingMb: fromMb });
}

/**
 * Whether a reading below the highest one belongs to the counter before a step. Below half of the reading before the step it may
 * also be a restart; 0 is the answer of a broken gateway.
 */
function disproves(
  { fromMb }: ReadingJump,
  { lastReadingMb: highestMb }: UsageMonth,
  shownMb: number,
): boolean {
  return shownMb > 0 && fromMb <= highestMb && shownMb >= fromMb / 2 && isNearer(shownMb, fromMb, highestMb);
}

/**
 * Whether growth leads back to the counter before a restart, other than step by step. A lagging node shows less of the former
 * month; a counter that continues within a month is at least as high as it was, except for rounding.
 */
function returns(jump: ReadingJump, highestMb: number, shownMb: number): boolean {
  const { fromMb } = jump;
  if (!isFarBelow(highestMb, fromMb)) return false;
  return isWithinMonth(jump) ? shownMb >= fromMb - SMALL_MB : !isNearer(shownMb, highestMb, fromMb);
}

/** Usage in `month`: 0 when the newest reading belongs to another month. */
export function usedInMonth(usage: UsageMonth | null, month: string): number {
  return usage !== null && usage.month === month ? usage.usedMb : 0;
}

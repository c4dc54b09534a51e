// Usage per card and calendar month (operations interface, section 1: carddata is tracked across calendar months).
//
// The gateway's reading is cumulative within its month. Its faults in real fleets must not count a megabyte
// twice, nor decrease a total; when two explanations fit, the one that counts less wins, since counting too much could
// stop a card within its package.
//   - It grows: the growth is new usage. This also holds at the turn of a month: a reading that is not smaller means that
//     the upstream counter has not been reset yet, so only its growth belongs to the new month.
//   - It dips, to not less than half: a correction. Nothing changes; growth is still counted from the highest reading.
//   - It falls below half: the counter was reset, or the answer was wrong. The first such reading is only a suspicion and
//     counts nothing. The next one confirms it, and then counts in full as new usage, or disproves it by being back. At
//     the turn of a month the same holds; the suspicion opens the row of the new month with no usage.
//   - It arrives late (taken before the last one kept): it is ignored.

/** A stored reading that is this much newer than the present one comes from a clock that was ahead. */
const CLOCK_AHEAD_MS = 3_600_000;
/** A broken gateway often reports 0: a 0 confirms a reset only after it lasted this long. */
const ZERO_STANDS_MS = 86_400_000;

export interface UsageMonth {
  /** Calendar month in the configured time zone, YYYY-MM. */
  readonly month: string;
  readonly usedMb: number;
  /** The highest reading since the counter of the gateway was last reset. */
  readonly lastReadingMb: number;
  /** A reading below half of `lastReadingMb`, which the next one must confirm; null: none. */
  readonly suspectedMb: number | null;
  /** Time of the last reading that changed something, epoch milliseconds. */
  readonly readAtMs: number;
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
 * @returns the card's new usage, or null when the reading changes nothing (same value or a dip in the same month, or late).
 */
export function applyReading(last: UsageMonth | null, reading: Reading): UsageMonth | null {
  const { usedMb: shownMb, atMs, month } = reading;
  if (last === null) {
    return { month, usedMb: shownMb, lastReadingMb: shownMb, suspectedMb: null, readAtMs: atMs };
  }
  const wasAhead = last.readAtMs - atMs > CLOCK_AHEAD_MS;
  if (atMs <= last.readAtMs && !wasAhead) return null;
  const { countedMb, ...counter } = judge(last, reading);
  const next = { ...usedAfter(last, month, countedMb), ...counter, readAtMs: atMs };
  return wasAhead || differs(last, next) ? next : null;
}

/**
 * A month that was opened too early, by a clock that was ahead or by another time zone, keeps the readings from before
 * its start: the repair (engine/results/usage-repair.ts) adds them to the present month.
 */
function usedAfter(last: UsageMonth, month: string, countedMb: number): Pick<UsageMonth, 'month' | 'usedMb'> {
  if (month <= last.month) return { month: last.month, usedMb: last.usedMb + countedMb };
  return { month, usedMb: countedMb };
}

/** The meaning of a reading: how much of it is new usage, and the state of the counter. */
function judge(
  last: UsageMonth,
  { usedMb: shownMb, atMs }: Reading,
): Pick<UsageMonth, 'lastReadingMb' | 'suspectedMb'> & { readonly countedMb: number } {
  const { lastReadingMb: highestMb, suspectedMb } = last;
  if (shownMb >= highestMb) {
    return { countedMb: shownMb - highestMb, lastReadingMb: shownMb, suspectedMb: null };
  }
  if (!isFarBelow(shownMb, highestMb)) return { countedMb: 0, lastReadingMb: highestMb, suspectedMb: null };
  // A counter that was reset does not fall: a reading far below the suspected one is a new suspicion.
  const confirms =
    suspectedMb !== null &&
    !isFarBelow(shownMb, suspectedMb) &&
    (shownMb > 0 || atMs - last.readAtMs >= ZERO_STANDS_MS);
  return confirms
    ? { countedMb: shownMb, lastReadingMb: shownMb, suspectedMb: null }
    : { countedMb: 0, lastReadingMb: highestMb, suspectedMb: shownMb };
}

function isFarBelow(shownMb: number, highestMb: number): boolean {
  return shownMb < highestMb / 2;
}

function differs(last: UsageMonth, next: UsageMonth): boolean {
  return (
    next.month !== last.month ||
    next.lastReadingMb !== last.lastReadingMb ||
    next.suspectedMb !== last.suspectedMb
  );
}

/** Usage in `month`: 0 when the newest reading belongs to another month. */
export function usedInMonth(usage: UsageMonth | null, month: string): number {
  return usage !== null && usage.month === month ? usage.usedMb : 0;
}

/** Computes the calendar month (YYYY-MM) of an instant in one IANA time zone. @throws RangeError for an unknown zone. */
export class MonthCalendar {
  readonly #format: Intl.DateTimeFormat;
  #quarter = Number.NaN;
  #month = '';

  constructor(readonly timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' });
  }

  monthOf(atMs: number): string {
    // Midnight in every zone is on a quarter of an hour, so one answer is valid for fifteen minutes.
    const quarter = Math.floor(atMs / 900_000);
    if (quarter !== this.#quarter) {
      const parts = Object.fromEntries(this.#format.formatToParts(atMs).map((p) => [p.type, p.value]));
      this.#month = `${parts.year}-${parts.month}`;
      this.#quarter = quarter;
    }
    return this.#month;
  }
}

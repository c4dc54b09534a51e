// Usage per card and calendar month (operations interface, section 1: carddata is tracked across calendar months).
//
// The gateway's reading is cumulative within its month. What happens to it in real fleets must not count a megabyte
// twice, nor make a total go down; where two explanations fit, the one that counts less is taken, since counting too
// much could stop a card within its package.
//   - It grows: the growth is new usage. Also at a month's turn: not smaller means that the upstream counter has not been
//     reset yet, so only its growth belongs to the new month.
//   - It dips, to not less than half: a correction. Nothing changes, the highest reading stays what growth is counted from.
//   - It falls below half: perhaps the counter started anew, perhaps a wrong answer. The first such reading is only a
//     suspicion and counts nothing. The next one confirms it, and all it shows is new usage, or disproves it by being
//     back. The same at a month's turn, where the suspicion opens the new month's row with nothing used.
//   - It arrives late (taken before the last one kept): it says nothing new and is ignored.

/** A reading kept that is this much newer than the one at hand was not taken after it, but by a clock that was ahead. */
const CLOCK_AHEAD_MS = 3_600_000;
/** What a broken gateway shows is 0, again and again: a 0 confirms a restart only after it stood for this long. */
const ZERO_STANDS_MS = 86_400_000;

export interface UsageMonth {
  /** Calendar month in the configured time zone, YYYY-MM. */
  readonly month: string;
  readonly usedMb: number;
  /** The highest value the present count of the gateway has shown. */
  readonly lastReadingMb: number;
  /** A reading below half of that, which the next one has to confirm; null: none. */
  readonly suspectedMb: number | null;
  /** When the last reading that changed something was taken, epoch milliseconds. */
  readonly readAtMs: number;
}

interface Reading {
  /** The cumulative value the gateway showed. */
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
 * A month that a clock ahead (or another time zone) opened too early keeps what is read before it begins: the repair
 * (engine/results/usage-repair.ts) adds all of it to the present month.
 */
function usedAfter(last: UsageMonth, month: string, countedMb: number): Pick<UsageMonth, 'month' | 'usedMb'> {
  if (month <= last.month) return { month: last.month, usedMb: last.usedMb + countedMb };
  return { month, usedMb: countedMb };
}

/** What a reading says: how much of it is new usage, and where the counter stands. */
function judge(
  last: UsageMonth,
  { usedMb: shownMb, atMs }: Reading,
): Pick<UsageMonth, 'lastReadingMb' | 'suspectedMb'> & { readonly countedMb: number } {
  const { lastReadingMb: highestMb, suspectedMb } = last;
  if (shownMb >= highestMb) {
    return { countedMb: shownMb - highestMb, lastReadingMb: shownMb, suspectedMb: null };
  }
  if (!isFarBelow(shownMb, highestMb)) return { countedMb: 0, lastReadingMb: highestMb, suspectedMb: null };
  // A counter that started anew does not fall: a reading far below the suspected one is a suspicion of its own.
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

/** Tells the calendar month (YYYY-MM) of an instant in one IANA time zone. Throws RangeError for an unknown zone. */
export class MonthCalendar {
  readonly #format: Intl.DateTimeFormat;
  #quarter = Number.NaN;
  #month = '';

  constructor(readonly timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' });
  }

  monthOf(atMs: number): string {
    // Every zone's midnight falls on a quarter of an hour, so one answer serves fifteen minutes.
    const quarter = Math.floor(atMs / 900_000);
    if (quarter !== this.#quarter) {
      const parts = Object.fromEntries(this.#format.formatToParts(atMs).map((p) => [p.type, p.value]));
      this.#month = `${parts.year}-${parts.month}`;
      this.#quarter = quarter;
    }
    return this.#month;
  }
}

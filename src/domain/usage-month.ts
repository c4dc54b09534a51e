// Usage per card and calendar month (specification, section 1: carddata is tracked across calendar months).
//
// The gateway's reading is cumulative within its month. Three things happen to it in real fleets, and none may count
// a megabyte twice or make a total go down:
//   - the counter starts anew (smaller reading): everything it shows is new usage;
//   - the month changes: the new month gets a row of its own. A first reading that is NOT smaller than the last one
//     means the upstream counter has not been reset yet, so only its growth belongs to the new month;
//   - a reading arrives late (taken before the last one we kept): it says nothing new and is ignored.

export interface UsageMonth {
  /** Calendar month in the configured time zone, YYYY-MM. */
  readonly month: string;
  readonly usedMb: number;
  /** The cumulative value the gateway showed last. */
  readonly lastReadingMb: number;
  /** When that value was read, epoch milliseconds. */
  readonly readAtMs: number;
}

/**
 * Folds one reading into a card's usage.
 * @returns the card's new usage, or null when the reading changes nothing (same value in the same month, or late).
 */
export function applyReading(
  last: UsageMonth | null,
  reading: { readonly usedMb: number; readonly atMs: number; readonly month: string },
): UsageMonth | null {
  if (last !== null) {
    if (reading.atMs <= last.readAtMs) return null;
    if (reading.month === last.month && reading.usedMb === last.lastReadingMb) return null;
  }
  const counted = last === null || reading.usedMb < last.lastReadingMb ? 0 : last.lastReadingMb;
  const before = last !== null && last.month === reading.month ? last.usedMb : 0;
  return {
    month: reading.month,
    usedMb: before + (reading.usedMb - counted),
    lastReadingMb: reading.usedMb,
    readAtMs: reading.atMs,
  };
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

// The calendar month and date of an instant, in the configured time zone (operations interface, section 1).

/** Computes the calendar month (YYYY-MM) of an instant in one IANA time zone. @throws RangeError for an unknown zone. */
export class MonthCalendar {
  readonly #format: Intl.DateTimeFormat;
  #quarter = Number.NaN;
  #date = '';

  constructor(readonly timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
  }

  /** @returns YYYY-MM. */
  monthOf(atMs: number): string {
    return this.dateOf(atMs).slice(0, 7);
  }

  /** @returns YYYY-MM-DD. */
  dateOf(atMs: number): string {
    // Midnight in every zone is on a quarter of an hour, so one answer is valid for fifteen minutes.
    const quarter = Math.floor(atMs / 900_000);
    if (quarter !== this.#quarter) {
      const parts = Object.fromEntries(this.#format.formatToParts(atMs).map((p) => [p.type, p.value]));
      this.#date = `${parts.year}-${parts.month}-${parts.day}`;
      this.#quarter = quarter;
    }
    return this.#date;
  }
}

/** @param month YYYY-MM */
export function monthBefore(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 2)).toISOString().slice(0, 7);
}

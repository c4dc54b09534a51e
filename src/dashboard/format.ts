// Values as short texts for the views. Times are relative to the moment when the daemon made the data, so that stale data does
// not seem to advance.
import chalk from 'chalk';
import { percentDown } from '../domain/numbers.ts';
import { grouped as allDigits, countWords, span as timeSpan } from '../domain/words.ts';
import { abbreviated, type Cell, digitsOf, relativeTime, Style } from '../terminal/style.ts';

export const NOTHING = '-';

/** The style of the commands' tables on the screen: with short numbers. */
export class ScreenStyle extends Style {
  constructor(nowMs: number, textColumns: number) {
    super('terminal', nowMs, chalk, { columns: null, summaryColumns: null, textColumns });
  }

  override number(value: number | null, digits = 0, most = digits): Cell {
    return most > 0 ? super.number(value, digits, most) : { text: count(value), align: 'right' };
  }
}

/** In full up to five digits, then at most four characters: 12,345, 123k, 1.2M, 10M. */
export function count(value: number | null): string {
  if (value === null) return NOTHING;
  return value < 99_999.5 ? grouped(value) : abbreviated(value);
}

/** `1 row`, `12,345 rows`, `1.2M rows`. */
export function counted(value: number, one: string): string {
  return countWords(value, one, `${one}s`, count);
}

/** All digits, grouped: 1,234,567. */
export function grouped(value: number | null): string {
  return value === null ? NOTHING : allDigits(Math.round(value));
}

/** A rate or a duration, with digits after the point only below ten. */
export function measure(value: number | null): string {
  if (value === null) return NOTHING;
  const digits = digitsOf(value);
  return digits === 0 ? count(value) : value.toFixed(digits);
}

/** Rounded down, so that 99.99 is not shown as 100, and 0.04 not as 0. */
export function percent(value: number | null): string {
  if (value === null) return NOTHING;
  const shown = percentDown(value, 1);
  return shown === 100 || shown < 0.1 ? String(shown) : shown.toFixed(1);
}

export function seconds(value: number | null): string {
  return value === null ? NOTHING : timeSpan(Math.round(value));
}

/** The distance of a time (RFC 3339) from `nowMs`: `12s ago`, `in 5m`. */
export function relative(time: string | null, nowMs: number): string {
  return time === null ? NOTHING : relativeTime(time, nowMs);
}

/** The time since a moment. */
export function since(time: string, nowMs: number): string {
  return timeSpan(Math.max(0, Math.round((nowMs - Date.parse(time)) / 1000)));
}

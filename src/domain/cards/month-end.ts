// The end of a calendar month, which decides how long a stop lasts: every screen says it for the last three days. Pure.
import { cardCount, span } from '../words.ts';
import type { MonthCalendar } from './month-calendar.ts';

const SAID_AHEAD_MS = 3 * 86_400_000;
/** Midnight in every zone is on a quarter of an hour. */
const QUARTER_MS = 900_000;

interface MonthTurn {
  /** When the next month begins, epoch milliseconds. */
  readonly turnsAtMs: number;
  /** The month that begins, YYYY-MM. */
  readonly next: string;
}

/** @returns null: the month does not end within three days. */
export function monthTurnAhead(calendar: Pick<MonthCalendar, 'monthOf'>, nowMs: number): MonthTurn | null {
  const present = calendar.monthOf(nowMs);
  const next = calendar.monthOf(nowMs + SAID_AHEAD_MS);
  if (next === present) return null;
  let [before, after] = [Math.floor(nowMs / QUARTER_MS), Math.ceil((nowMs + SAID_AHEAD_MS) / QUARTER_MS)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (calendar.monthOf(middle * QUARTER_MS) === present) before = middle;
    else after = middle;
  }
  return { turnsAtMs: after * QUARTER_MS, next };
}

/**
 * `in 2d 4h by Asia/Shanghai; then 406 cards stay stopped: stops.resume_at_month_start is off, and would resume them`
 * @param stopped cards that cardpoll stopped in the month and that are stopped; null: not known
 */
export function monthEndWords(
  turn: { readonly seconds: number; readonly timeZone: string },
  stopped: number | null,
  resumesAtStart: boolean,
): string {
  const when = `in ${span(Math.max(0, turn.seconds))} by ${turn.timeZone}`;
  if (stopped === null) return `${when}; how many cards are stopped is not known`;
  if (stopped === 0) return `${when}; no card is stopped by cardpoll`;
  const cards = (verb: readonly [string, string]) => cardCount(stopped, verb);
  return resumesAtStart
    ? `${when}; then ${cards(['is', 'are'])} resumed, within four hours`
    : `${when}; then ${cards(['stays', 'stay'])} stopped: stops.resume_at_month_start is off, and would resume ${stopped === 1 ? 'it' : 'them'}`;
}

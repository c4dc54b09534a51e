// Times and days as an operator types them. Used by `--date`, `--since` and `--until` of all commands.
import type { TimeSpan } from './line-clock.ts';
import { parseTimeValue } from './timestamps.ts';
import type { Zone } from './zone.ts';

/** What is accepted, for messages. */
export const TYPED_TIMES =
  "2h for two hours ago (s, m, h, d), 02:00, today, yesterday, 'yesterday 22:00', 2026-02-01, '2026-02-01 10:00' or 2026-02-01T10:00:00+08:00";
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGO = /^-?(\d{1,9})([smhd])$/;
const CLOCK = /^(?:(today|yesterday) )?([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const WHOLE = /^\d+(\.\d+)?$|^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.,]\d{1,9})?( ?[+-]\d\d(:?\d\d)?|[Zz])?$/;

/**
 * Epoch milliseconds; null: not a time. A time of day is the last one that has passed. A day is its first instant. Times
 * without an offset are times of the zone.
 */
export function typedTime(text: string, zone: Zone, nowMs: number): number | null {
  const ago = AGO.exec(text);
  if (ago !== null) return Math.max(0, nowMs - Number(ago[1]) * (UNIT_MS[ago[2] ?? 's'] ?? 0));
  const clock = CLOCK.exec(text);
  if (clock !== null) return timeOfDay(clock, zone, nowMs);
  const day = typedDay(text, zone, nowMs);
  if (day !== null) return day.fromMs;
  const completed = text.replace(/^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(?=$|[Zz+-])/, '$1:00');
  return WHOLE.test(completed) ? (parseTimeValue(completed, zone)?.ms ?? null) : null;
}

/** `today`, `yesterday` or a date; null: not a day. */
export function typedDay(text: string, zone: Zone, nowMs: number): TimeSpan | null {
  const today = zone.dayAt(nowMs);
  if (text === 'today') return today;
  if (text === 'yesterday') return zone.dayAt(today.fromMs - 1);
  const date = DATE.exec(text);
  return date === null ? null : zone.dayOf(Number(date[1]), Number(date[2]), Number(date[3]));
}

function timeOfDay([, named, ...clock]: RegExpExecArray, zone: Zone, nowMs: number): number {
  const [hour = 0, minute = 0, second = 0] = clock.map((digits) => Number(digits ?? 0));
  const at = ({ fromMs }: TimeSpan) => {
    const midnight = fromMs + zone.offsetAt(fromMs);
    return zone.toEpochMs(midnight + ((hour * 60 + minute) * 60 + second) * 1_000);
  };
  const today = zone.dayAt(nowMs);
  const yesterday = zone.dayAt(today.fromMs - 1);
  if (named !== undefined) return at(named === 'today' ? today : yesterday);
  return at(today) <= nowMs ? at(today) : at(yesterday);
}

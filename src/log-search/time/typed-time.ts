// Times and days as an operator types them. Used by `--date`, `--since` and `--until` of all commands.
import type { TimeSpan } from './line-clock.ts';
import { parseTimeValue } from './time-reader.ts';
import { Zone } from './zone.ts';

/** The end of the range for which a time is typed. */
export type Edge = 'since' | 'until';

/** The accepted forms, for messages. */
export const TYPED_TIMES =
  "2h for two hours ago (s, m, h, d), 02:00, today, yesterday, 'yesterday 22:00', 2026-02-01, '2026-02-01 10:00' or 2026-02-01T10:00:00+08:00";
const UTC = new Zone('UTC');
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGO = /^-?(\d{1,9})([smhd])$/;
const CLOCK = /^(?:(today|yesterday) )?([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const LOCAL = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.,]\d{1,9})?$/;
const WHOLE = /^\d+(\.\d+)?$|^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.,]\d{1,9})?( ?[+-]\d\d(:?\d\d)?|[Zz])?$/;

/**
 * Epoch milliseconds; null: not a time. A time of day means its last occurrence. A day is its first instant. Times without an
 * offset are times of the zone.
 *
 * @param edge which instant of a time that occurs twice is used, so that a range includes all possible lines
 */
export function typedTime(text: string, zone: Zone, nowMs: number, edge: Edge): number | null {
  const ago = AGO.exec(text);
  if (ago !== null) return Math.max(0, nowMs - Number(ago[1]) * (UNIT_MS[ago[2] ?? 's'] ?? 0));
  const clock = CLOCK.exec(text);
  if (clock !== null) return timeOfDay(clock, zone, nowMs, edge);
  const day = typedDay(text, zone, nowMs);
  if (day !== null) return day.fromMs;
  const completed = text.replace(/^(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d)(?=$|[Zz]| ?[+-])/, '$1:00');
  if (!WHOLE.test(completed)) return null;
  if (!LOCAL.test(completed)) return parseTimeValue(completed, zone)?.ms ?? null;
  const wall = parseTimeValue(completed, UTC);
  return wall === undefined ? null : edgeAt(zone, wall.ms, edge);
}

/** `today`, `yesterday` or a date; null: not a day. */
export function typedDay(text: string, zone: Zone, nowMs: number): TimeSpan | null {
  const today = zone.dayAt(nowMs);
  if (text === 'today') return today;
  if (text === 'yesterday') return zone.dayAt(today.fromMs - 1);
  const date = DATE.exec(text);
  return date === null ? null : zone.dayOf(Number(date[1]), Number(date[2]), Number(date[3]));
}

function edgeAt(zone: Zone, wallMs: number, edge: Edge): number {
  return edge === 'until' ? zone.lastAt(wallMs) : zone.firstAt(wallMs);
}

function timeOfDay([, named, ...clock]: RegExpExecArray, zone: Zone, nowMs: number, edge: Edge): number {
  const [hour = 0, minute = 0, second = 0] = clock.map((digits) => Number(digits ?? 0));
  const at = ({ fromMs }: TimeSpan, wanted = edge) => {
    const midnight = fromMs + zone.offsetAt(fromMs);
    return edgeAt(zone, midnight + ((hour * 60 + minute) * 60 + second) * 1_000, wanted);
  };
  const today = zone.dayAt(nowMs);
  const yesterday = zone.dayAt(today.fromMs - 1);
  if (named !== undefined) return at(named === 'today' ? today : yesterday);
  return [at(today), at(today, 'since')].find((ms) => ms <= nowMs) ?? at(yesterday);
}

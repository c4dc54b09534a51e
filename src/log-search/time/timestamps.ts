// Reads the time that is written in a log line, by the table of formats.ts: the value of a time key of JSON or key=value text,
// else a time that begins in the first characters. A date further inside a message is no time of the line. Called for lines
// with a hit and a few lines per chunk, not for all. Knows no files and no other lines: file-dates.ts completes what a format
// leaves out.
import { isAfternoon, MONTHS, readersFor, type TimeFields, ZONE_NAMES } from './formats.ts';
import { isMemberLine } from './record-lines.ts';
import { isJsonObject, timeByKey, timeOfObject } from './time-keys.ts';
import { type LineInstants, offsetMs, Zone } from './zone.ts';

/** A day as it is written. What the format leaves out is null. */
interface WrittenDay {
  readonly year: number | null;
  readonly month: number | null;
  readonly day: number | null;
  /** Of numbers alone, what the order of two or three says; null when the format says it, or all orders mean the same. */
  readonly order: 'day_first' | 'month_first' | 'year_first' | null;
}

/** A time as it is written. */
export interface Written extends WrittenDay {
  /** All of it, if it is an epoch. */
  readonly epochMs: number | null;
  /** Since midnight. */
  readonly clockMs: number;
  readonly zone: string | null;
  /** What the same numbers mean in other orders; empty when the day is known. */
  readonly others: readonly WrittenDay[];
}

/** `unreadable`: the line has a time, in no format of the table or of no day that exists. */
type Reading = Written | 'unreadable' | undefined;

/** A time of the line begins in its first characters: after a level, a bracket, a host. */
const LEADING = 40;
/** Is skipped before them: a pod in brackets, the name of a container, what an access log has before the time in brackets. */
const PREFIX =
  /^(?:\[[a-z][\w.-]*\/[\w./-]{1,120}\] +|\S{1,100} +\| +|(?:\S{1,100} ){1,5}(?=\[\d\d\/[A-Z][a-z]{2}\/\d{4}:))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are written with.
const COLOUR = /\x1b\[[\d;]*m/g;
const HEAD_BYTES = 320;
const BEFORE = /^[\s\0]+/;
const CLOCK = String.raw`(?<!\d)\d{1,2}:\d\d`;
const YEAR = String.raw`(?<!\d)(?:19|20)\d\d(?!\d)`;
/** A year and a time of day, or three numbers and a time of day, however they are written. */
const LOOKS_LIKE_TIME = new RegExp(
  String.raw`^.{0,${LEADING}}?(?:${YEAR}[^:]{1,24}?${CLOCK}|${CLOCK}:\d\d[^:]{1,14}?${YEAR}|(?<!\d)\d{1,2}[./-]\d{1,2}[./-]\d{1,2}[ ,T]{1,2}${CLOCK})`,
  's',
);

/** The time of the line buf[from, to). */
export function timeOfLine(buf: Buffer, from: number, to: number): Reading {
  const start = skipBom(buf, from);
  if (isJsonObject(buf, start, to)) return timeOfObject(buf, start, to, timeOfValue);
  if (isMemberLine(buf, start, to)) return timeByKey(buf, start, to, timeOfValue);
  const head = buf.toString('latin1', start, Math.min(to, start + HEAD_BYTES));
  const keyed = /^[\w.@-]+=/.test(head) ? timeByKey(buf, start, to, timeOfValue) : undefined;
  return keyed ?? leadingTime(head);
}

function leadingTime(line: string): Reading {
  const plain = line.includes('\x1b') ? line.replace(COLOUR, '') : line;
  const head = plain.replace(BEFORE, '').replace(PREFIX, '');
  for (let at = 0; at <= LEADING && at < head.length; at += 1) {
    const written = writtenAt(head, at);
    if (written !== undefined) return written;
  }
  return /\d:\d\d/.test(head) && LOOKS_LIKE_TIME.test(head) ? 'unreadable' : undefined;
}

function writtenAt(text: string, at: number): Written | undefined {
  for (const reader of readersFor(text.charAt(at))) {
    const fields = reader.fieldsAt(text, at);
    const written = fields === undefined ? undefined : writtenBy(fields);
    if (written !== undefined) return written;
  }
  return undefined;
}

/** The form of cardpoll's own lines is read without the table, in a tenth of the time. A later day may not exist. */
const RFC_3339 = /^\d{4}-\d\d-(?:0[1-9]|1\d|2[0-8])T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** @param text the value of a time key: a written time, or a number in epoch seconds, ms, us or ns. */
function timeOfValue(text: string): Written | undefined {
  const ownMs = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (ownMs >= 0) return epoch(ownMs);
  const number = /^(?:\\?\/Date\()?(\d+(?:\.\d*)?(?:[eE]\+?\d+)?)/.exec(text);
  if (number !== null && (number[0] === text || /^\\?\/Date\(/.test(text))) {
    const digits = number[1] ?? '';
    return epoch(epochToMs(/e/i.test(digits) ? String(Number(digits)) : digits));
  }
  return writtenAt(text, 0);
}

/** The size decides the unit: seconds from 1973 to 5138, and the same range in ms, us and ns. */
function epochToMs(digits: string): number | undefined {
  const [whole = '', fraction = ''] = digits.split('.');
  const value = Number(whole);
  if (value >= 1e8 && value < 1e11) return value * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
  if (value >= 1e11 && value < 1e14) return value;
  if (value >= 1e14 && value < 1e17) return Number(whole.slice(0, -3));
  return value >= 1e17 && value < 1e20 ? Number(whole.slice(0, -6)) : undefined;
}

function epoch(epochMs: number | undefined): Written | undefined {
  if (epochMs === undefined) return undefined;
  return { epochMs, year: null, month: null, day: null, clockMs: 0, zone: null, order: null, others: [] };
}

/** A number at the start of a line may be one of a card or of an order: only the present century counts, from 2017 on. */
const FIRST_LEADING_MS = 1.5e12;
const LAST_LEADING_MS = 4.1e12;
/** TAI is so much ahead of UTC in the labels of daemontools and its successors. */
const TAI_SECONDS = 10;

/** Undefined when there is no such time. */
function writtenBy({ epoch: digits, tai, one, other, third, ...fields }: TimeFields): Written | undefined {
  if (digits !== undefined) {
    const ms = epochToMs(digits) ?? 0;
    return ms < FIRST_LEADING_MS || ms > LAST_LEADING_MS ? undefined : epoch(ms);
  }
  if (tai !== undefined)
    return epoch(
      (Number.parseInt(tai.slice(0, 9), 16) - TAI_SECONDS) * 1_000 +
        Math.floor(Number.parseInt(tai.slice(9), 16) / 1e6),
    );
  const clockMs = clockOf(fields);
  if (clockMs === undefined) return undefined;
  const year = fields.year === undefined ? null : fullYear(fields.year);
  const zone = fields.zone?.trim() ?? (fields.utc === undefined ? null : 'UTC');
  if (one !== undefined) {
    const days = third === undefined ? twoNumbers(one, other, year) : threeNumbers(one, other, third);
    const [day, ...others] = days.filter(existsDay);
    return day && { epochMs: null, clockMs, zone, ...day, others };
  }
  const month =
    fields.monthName === undefined
      ? fields.month
      : MONTHS.findIndex((name) => name.toLowerCase() === fields.monthName?.slice(0, 3).toLowerCase()) + 1;
  const written = {
    epochMs: null,
    year,
    month: numberOf(month),
    day: numberOf(fields.day),
    clockMs,
    zone,
    order: null,
    others: [],
  };
  return existsDay(written) ? written : undefined;
}

function clockOf({ hour, minute, second, fraction, half }: TimeFields): number | undefined {
  const [h, m, s] = [Number(hour), Number(minute), Number(second ?? 0)];
  if (h > 23 || m > 59 || s > 60) return undefined;
  // A leap second is the last instant of its minute.
  const ms = s === 60 ? 999 : Number((fraction ?? '').slice(0, 3).padEnd(3, '0'));
  const hours = half === undefined || h > 12 ? h : (h % 12) + (isAfternoon(half) ? 12 : 0);
  return ((hours * 60 + m) * 60 + Math.min(s, 59)) * 1_000 + ms;
}

function fullYear(digits: string): number {
  return digits.length === 2 ? 2000 + Number(digits) : Number(digits);
}

function numberOf(value: string | number | undefined): number | null {
  return value === undefined ? null : Number(value);
}

function twoNumbers(one: string, other = '', year: number | null): WrittenDay[] {
  const [a, b] = [Number(one), Number(other)];
  if (a === b) return [{ year, month: a, day: b, order: null }];
  return [
    { year, month: b, day: a, order: 'day_first' },
    { year, month: a, day: b, order: 'month_first' },
  ];
}

function threeNumbers(one: string, other = '', third: string): WrittenDay[] {
  const yearFirst = { year: fullYear(one), month: Number(other), day: Number(third) };
  return [{ ...yearFirst, order: 'year_first' }, ...twoNumbers(one, other, fullYear(third))];
}

function existsDay({ year, month, day }: WrittenDay): boolean {
  if (month === null || day === null) return true;
  // A day without a year may be one of a leap year.
  const last = new Date(Date.UTC(year ?? 2000, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= last && (year ?? 1970) >= 1970;
}

/** The instants of a time that is written in full; undefined when a part is left out or in doubt. */
export function instantsOf(
  { epochMs, year, month, day, clockMs, zone: text, others }: Written,
  zone: Zone,
): LineInstants | undefined {
  if (epochMs !== null) return { ms: epochMs, againMs: null };
  if (year === null || month === null || day === null || others.length > 0) return undefined;
  const wall = Date.UTC(year, month - 1, day) + clockMs;
  return text === null ? zone.instantsOf(wall) : inWrittenZone(text, wall, zone);
}

function inWrittenZone(text: string, wall: number, zone: Zone): LineInstants {
  const name = text.replace(/^[[(]/, '');
  const meanings = ZONE_NAMES[name];
  if (meanings === undefined) {
    const own = /^[A-Z][A-Za-z]+\//.test(name) ? namedZone(name) : null;
    if (own !== null) return own.instantsOf(wall);
    return name.includes('/')
      ? zone.instantsOf(wall)
      : { ms: wall - offsetMs(name.replace(/([+-])(?=\d(?!\d))/, '$10')), againMs: null };
  }
  const [hours = 0, ...others] = meanings;
  if (others.length === 0) return { ms: wall - hours * 3_600_000, againMs: null };
  const read = zone.instantsOf(wall);
  const isPossible = meanings.some((hour) => hour * 3_600_000 === zone.offsetAt(read.ms));
  return { ...read, zoneName: isPossible ? 'of_many' : 'not_ours' };
}

const zones = new Map<string, Zone | null>();

/** Null for what only looks like the name of a zone: `Service/Handler`. */
function namedZone(name: string): Zone | null {
  let known = zones.get(name);
  if (known === undefined) {
    try {
      known = new Zone(name);
    } catch {
      known = null;
    }
    zones.set(name, known);
  }
  return known;
}

/** A time that is typed or configured, in the zone unless it says another; undefined when it is not one, or not all of one. */
export function parseTimeValue(text: string, zone: Zone): LineInstants | undefined {
  const written = timeOfValue(text);
  return written === undefined ? undefined : instantsOf(written, zone);
}

function skipBom(buf: Buffer, at: number): number {
  return buf[at] === 0xef && buf[at + 1] === 0xbb && buf[at + 2] === 0xbf ? at + 3 : at;
}

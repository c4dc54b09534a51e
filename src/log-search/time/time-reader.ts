// Reads the time in a log line, by the table of formats.ts: the value of a time key of JSON or key=value text, otherwise a time
// that begins in the first characters. A time is read whole, with its zone, half of the day and year, or not at all. Called only
// for lines with a hit and a few lines per chunk.
import { formatsFor, isAfternoon, MONTHS, type WrittenZone, zoneAfter } from './formats.ts';
import { isTimeKey, type KeyedTime, splitCells, timeByKey, timeOfObject } from './time-keys.ts';
import { type LineInstants, type Zone, zoneNamed } from './zone.ts';

/** `unreadable`: a time that is not understood, or several without a clear one. `several`: the line has several records. */
export type LineReading = KeyedTime<LineInstants>;

/** A line's time begins within its first characters: after a level, a bracket, a host. */
const LEADING = 40;
/**
 * Skipped before them: a pod in brackets, the name of a container, syslog's prefix, the part of an access log before the time.
 */
const PREFIX =
  /^(?:\[[a-z][\w.-]*\/[\w./-]{1,120}\] +|(?:<\d+>)?[A-Z][a-z]{2} +\d{1,2} [\d:]{8} \S{1,100} [\w./-]{1,60}(?:\[\d+\])?: (?=\{")|\S{1,100} +\| +|(?:\S{1,100} ){1,5}(?=\[\d\d\/[A-Z][a-z]{2}\/\d{4}:))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are written with.
const COLOUR = /\x1b\[[\d;]*[mK]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON text sequences begin their records with it.
const BEFORE = /^[\s\0\x1e]+/;
const OPEN = 0x7b;
const QUOTE = 0x22;
const HEAD_BYTES = 320;
/** Number of bytes of a line that are searched for other fields, and cells. */
const FIELDS_BYTES = 4_096;
const AFTER_BYTES = 64;
/** Fields with a time that is not the time of logging. */
const NO_EVENT = /activ|expir|birth|valid|until|renew|creat|\bdue\b|\bsince\b/i;
const CLOCK_BEFORE = /\d:\d\d(?![\da-f])/i;
const KEY_BEFORE = /([\w@.-]+)\\?["']?\s*=\s*\\?["'[(]?$/;
const ZONE_FIELD =
  /(?<![\w-])(?:(?:time_?zone|tz|(?:utc|gmt|tz|time_?zone)_?offset)\\?["']?\s*[=:]\s*\\?["']?|(?:zone|offset|gmtoff)\\?["']?\s*[=:]\s*\\?["']?(?=[+-]\d\d:?\d\d|[A-Z]{3,4}\b|[A-Z][a-z]+\/))([^"',;}\\\s]*)/i;
const DATE = /\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?/g;
/** W3C's extended format (IIS, CloudFront): times are in UTC, unless the head says otherwise. */
const IS_W3C = /^#Fields:.*\bdate[ \t]+time(?![\w-])/m;
const IS_LOCAL = /^#Time Format: *Local/m;
const GMT_OFFSET = /^#GMT-Offset: *([+-]\d\d:?\d\d)/m;

/** Earlier numbers and dates are not times of a log. */
const FIRST_MS = Date.UTC(2000, 0);
const LAST_MS = Date.UTC(2100, 0);
/** Clocks differ, and copies may have the mtime of another zone. */
export const MTIME_SLACK_MS = 36 * 3_600_000;

/**
 * The form of cardpoll's own lines, which is read without the table in a tenth of the time. A later day of the month may not
 * exist.
 */
const RFC_3339 = /^\d{4}-\d\d-(?:0[1-9]|1\d|2[0-8])T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const DIGITS_OF_DATE = /^20\d{12}(?:\d{3})?$/;
const NUMBER = /^(?:\\?\/Date\()?(\d+(?:\.\d*)?(?:[eE]\+?\d+)?)(?:[+-]\d{4})?(?:\)\\?\/)?$/;

interface Column {
  readonly separator: string;
  /** -1: no column has a time. */
  readonly at: number;
}

/** Reads the times of one file. */
export class TimeReader {
  #zone: Zone;
  /** A larger number is not a time. */
  readonly #lastNumberMs: number;
  /** The cell with the time, in a file whose first line names its columns. */
  #column: Column | null = null;
  /** The current line. */
  #line: { readonly buf: Buffer; readonly from: number; readonly to: number } | null = null;

  /** @param zone for times without one. @param mtimeMs of the file; a number that means a later time is not a time. */
  constructor(zone: Zone, mtimeMs: number) {
    this.#zone = zone;
    this.#lastNumberMs = mtimeMs + MTIME_SLACK_MS;
  }

  get zone(): Zone {
    return this.#zone;
  }

  /** Reads hints about its times from the beginning of the file. */
  begin(head: Buffer): void {
    const text = head.toString('latin1', skipBom(head, 0), FIELDS_BYTES);
    this.#column = columnIn(text.split(/\r?\n/, 1)[0] ?? '');
    if (!text.startsWith('#') || !IS_W3C.test(text) || IS_LOCAL.test(text)) return;
    this.#zone = zoneNamed(GMT_OFFSET.exec(text)?.[1] ?? 'UTC');
  }

  /** The time of the line buf[from, to); undefined: none. */
  read(buf: Buffer, from: number, to: number): LineReading {
    const start = skipBom(buf, from);
    this.#line = { buf, from: start, to };
    // Enough for most lines of JSON; the patterns below would take most of the time of a plan.
    if (buf[start] === OPEN && buf[start + 1] === QUOTE) return timeOfObject(buf, start, to, this.value);
    const head = buf.toString('latin1', start, Math.min(to, start + HEAD_BYTES));
    const plain = head.includes('\x1b') ? head.replace(COLOUR, '') : head;
    const text = plain.replace(BEFORE, '').replace(PREFIX, '');
    if (/^\{\s*["'}]/.test(text)) {
      const object = buf.indexOf('{', start);
      return timeOfObject(buf, object, to, this.value);
    }
    if (this.#column !== null) return this.#cell(this.#column);
    if (/^\[\s*\{/.test(text)) return 'several';
    const keyed = /^[\w.@-]+=/.test(text) ? timeByKey(buf, start, to, this.value) : undefined;
    return keyed ?? this.#leading(text);
  }

  /** The time of a line that is a member of a JSON object over several lines. */
  readMember(buf: Buffer, from: number, to: number): LineReading {
    this.#line = { buf, from, to };
    return timeByKey(buf, from, to, this.value);
  }

  /** The time that is the value of a time key: a written time, or a number in epoch seconds, ms, us or ns. */
  readonly value = (text: string): LineReading => {
    const ownMs = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(ownMs)) return inLogs(ownMs, LAST_MS);
    const number = DIGITS_OF_DATE.test(text) ? null : NUMBER.exec(text);
    if (number === null) return this.#writtenAt(text, 0, true);
    const digits = number[1] ?? '';
    return this.#number(/e/i.test(digits) ? String(Number(digits)) : digits);
  };

  #leading(head: string): LineReading {
    for (let at = 0; at <= LEADING && at < head.length; at += 1) {
      const written = this.#writtenAt(head, at);
      if (written === undefined) continue;
      const before = head.slice(0, at);
      const key = KEY_BEFORE.exec(before)?.[1];
      const isOther =
        NO_EVENT.test(before) || CLOCK_BEFORE.test(before) || (key !== undefined && !isTimeKey(key));
      return isOther || this.#isCell(head, at) ? 'unreadable' : written;
    }
    return undefined;
  }

  /** Cells of a table have no labels for their times, so a time counts only if it is the only one and in the first cell. */
  #isCell(head: string, at: number): boolean {
    const before = /[,;]["']?$/.test(head.slice(0, at));
    if (before) return true;
    const separator = /^["']?[\dT:. +/Z-]{15,40}["']?([,;\t|])/.exec(head.slice(at))?.[1];
    if (separator === undefined) return false;
    const cells = splitCells(this.#fields(), separator);
    return cells.filter((cell) => /^\d{4}[-/]\d\d?[-/]\d\d?[T ]\d/.test(cell)).length > 1;
  }

  #cell({ separator, at }: Column): LineReading {
    const cell = splitCells(this.#fields(), separator)[at];
    return cell === undefined ? 'unreadable' : (this.value(cell) ?? 'unreadable');
  }

  #fields(): string {
    if (this.#line === null) return '';
    const { buf, from, to } = this.#line;
    return buf.toString('latin1', from, Math.min(to, from + FIELDS_BYTES));
  }

  /** undefined: no time begins here. */
  #writtenAt(text: string, at: number, isAll = false): LineReading {
    for (const { pattern } of formatsFor(text.charAt(at))) {
      pattern.lastIndex = at;
      const fields = pattern.exec(text)?.groups;
      if (fields === undefined) continue;
      if (fields.epoch !== undefined) return this.#number(fields.epoch);
      const wall = wallOf(fields);
      const after = text.slice(pattern.lastIndex, pattern.lastIndex + AFTER_BYTES);
      const zone = fields.zone === undefined ? zoneAfter(after) : zoneAfter(` ${fields.zone}`);
      const hasRest = fields.zone !== undefined || (isAll && after.trim() !== '');
      if (wall === null || zone === 'doubt' || (zone === null && hasRest)) return 'unreadable';
      return this.#instants(wall, zone ?? this.#zoneBeside());
    }
    return undefined;
  }

  /** A zone in a separate field. */
  #zoneBeside(): WrittenZone | null | 'doubt' {
    const [, value] = ZONE_FIELD.exec(this.#fields()) ?? [];
    return value === undefined ? null : (zoneAfter(value) ?? zoneAfter(` ${value}`) ?? 'doubt');
  }

  #instants(wallMs: number, zone: WrittenZone | null | 'doubt'): LineReading {
    if (zone === 'doubt') return 'unreadable';
    if (zone === null) return bounded(this.#zone.instantsOf(wallMs), LAST_MS);
    if (typeof zone === 'string') {
      const named = namedZone(zone);
      return named === null ? 'unreadable' : bounded(named.instantsOf(wallMs), LAST_MS);
    }
    const [hours = 0, ...others] = zone;
    if (others.length === 0) return inLogs(wallMs - hours * 3_600_000, LAST_MS);
    const read = this.#zone.instantsOf(wallMs);
    const isPossible = zone.some((hour) => hour * 3_600_000 === this.#zone.offsetAt(read.ms));
    return isPossible ? bounded({ ...read, isAmbiguous: true }, LAST_MS) : 'unreadable';
  }

  #number(digits: string): LineReading {
    const ms = epochToMs(digits);
    return ms === undefined ? 'unreadable' : inLogs(ms, this.#lastNumberMs);
  }
}

function bounded(time: LineInstants, lastMs: number): LineReading {
  return time.ms >= FIRST_MS && time.ms < Math.min(lastMs, LAST_MS) ? time : 'unreadable';
}

function inLogs(ms: number, lastMs: number): LineReading {
  return bounded({ ms, againMs: null }, lastMs);
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

/** The wall-clock time as if it were UTC; null: no such day or time. */
function wallOf(fields: Readonly<Record<string, string | undefined>>): number | null {
  const {
    year,
    name,
    month,
    day,
    hour,
    minute,
    second = '0',
    fraction,
    millis,
    before,
    half = before,
  } = fields;
  const isName = (one: string) => one.toLowerCase() === name?.slice(0, 3).toLowerCase();
  const nth = name === undefined ? Number(month) : MONTHS.findIndex(isName) + 1;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  if (h > 23 || m > 59 || s > 60) return null;
  const date = new Date(Date.UTC(Number(year), nth - 1, Number(day)));
  if (date.getUTCMonth() !== nth - 1 || date.getUTCDate() !== Number(day)) return null;
  // A leap second is the last instant of its minute.
  const ms = s === 60 ? 999 : Number((fraction ?? millis ?? '').slice(0, 3).padEnd(3, '0'));
  const hours = half === undefined || h > 12 ? h : (h % 12) + (isAfternoon(half) ? 12 : 0);
  return date.getTime() + ((hours * 60 + m) * 60 + Math.min(s, 59)) * 1_000 + ms;
}

/** Null: the text only looks like the name of a zone. */
function namedZone(name: string): Zone | null {
  try {
    return zoneNamed(name);
  } catch {
    return null;
  }
}

/** The column that holds the time, if the first line of a file names columns. */
function columnIn(line: string): Column | null {
  const separator = /[,;\t|]/.exec(line)?.[0];
  if (separator === undefined) return null;
  const names = splitCells(line, separator);
  if (names.length < 3 || !names.every((name) => /^[A-Za-z_@][\w .@()/-]{0,40}$/.test(name))) return null;
  return { separator, at: names.findIndex((name) => isTimeKey(name)) };
}

/** Whether the text holds more than one date with a time of day. */
export function hasSeveralTimes(text: string): boolean {
  return new Set(text.match(DATE)).size > 1;
}

/** A typed or configured time, in the zone unless it names another; undefined: not a time. */
export function parseTimeValue(text: string, zone: Zone): LineInstants | undefined {
  const time = new TimeReader(zone, Number.POSITIVE_INFINITY).value(text);
  return typeof time === 'object' ? time : undefined;
}

function skipBom(buf: Buffer, at: number): number {
  return buf[at] === 0xef && buf[at + 1] === 0xbb && buf[at + 2] === 0xbf ? at + 3 : at;
}

// Finds the time of a log line. Called for lines with a hit and a few lines per chunk, not for all. A top-level time, ts,
// timestamp or @timestamp of a JSON object comes first; otherwise the first time in the first 4 KiB of the line. Knows no
// files and no other lines; line-clock.ts does.
import { type LineInstants, offsetMs, type Zone } from './zone.ts';

/** How far into a line to look for a time that is not a JSON field. */
const TEXT_TIME_BYTES = 4_096;

const CLOCK = String.raw`(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?`;
const OFFSET = String.raw`([Zz]|[+-]\d\d:?\d\d(?!\d)|[+-]\d\d(?![\d:])| [+-]\d\d:?\d\d(?!\d))?`;
const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const MONTH_NAME = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const WRITTEN = String.raw`(?<!\d)(?:(\d{4})([-/])(\d\d)\2(\d\d)[Tt ]|(\d\d)/${MONTH_NAME}/(\d{4}):)${CLOCK}${OFFSET}`;
const WRITTEN_TIME = new RegExp(WRITTEN);
const EPOCH = String.raw`(?<![\w@.-])(?:@timestamp|timestamp|time|ts)\\*"?\s*[:=]\s*\\*"?(\d{9,19}(?:\.\d{1,9})?)(?![\d.:/-])`;
const EPOCH_TIME = new RegExp(EPOCH);

/** The time of the line buf[from, to), undefined when it has none of its own. */
export function timeOfLine(buf: Buffer, from: number, to: number, zone: Zone): LineInstants | undefined {
  const own = topLevelTime(buf, from, to, zone);
  if (own !== undefined) return own;
  const head = buf.toString('latin1', from, Math.min(to, from + TEXT_TIME_BYTES));
  return timeOfText(head, zone);
}

function timeOfText(head: string, zone: Zone): LineInstants | undefined {
  const epoch = EPOCH_TIME.exec(head);
  let start = 0;
  for (;;) {
    const written = WRITTEN_TIME.exec(start === 0 ? head : head.slice(start));
    if (written === null) break;
    const at = start + written.index;
    if (epoch !== null && epoch.index < at) break;
    const time = instantsOfWritten(written, zone);
    if (time !== undefined) return time;
    start = at + 1;
  }
  return epoch === null ? undefined : single(epochToMs(epoch[1] ?? ''));
}

/** @param text the value of a time field: a written time, or a number in epoch seconds, ms, us or ns. */
export function parseTimeValue(text: string, zone: Zone): LineInstants | undefined {
  if (/^\d+(\.\d*)?$/.test(text)) return single(epochToMs(text));
  if (/^\d\.\d+[eE]\+?\d+$/.test(text)) return single(epochToMs(String(Number(text))));
  const written = WRITTEN_TIME.exec(text);
  return written?.index === 0 ? instantsOfWritten(written, zone) : undefined;
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

function single(ms: number | undefined): LineInstants | undefined {
  return ms === undefined ? undefined : { ms, againMs: null };
}

function instantsOfWritten(match: RegExpExecArray, zone: Zone): LineInstants | undefined {
  const [, isoYear, , isoMonth, isoDay, clfDay, clfMonth, clfYear] = match;
  const [hour, minute, second] = [Number(match[8]), Number(match[9]), Number(match[10])];
  const year = Number(isoYear ?? clfYear);
  const month = isoMonth === undefined ? MONTHS.indexOf(clfMonth ?? '') / 3 + 1 : Number(isoMonth);
  const day = Number(isoDay ?? clfDay);
  if (hour > 23 || minute > 59 || second > 60 || month < 1 || month > 12 || day < 1) return undefined;
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate() || year < 1970) return undefined;
  // A leap second is the last instant of its minute.
  const millisecond = second === 60 ? 999 : Number((match[11] ?? '').slice(0, 3).padEnd(3, '0'));
  const wall = Date.UTC(year, month - 1, day, hour, minute, Math.min(second, 59), millisecond);
  const offset = match[12];
  return offset === undefined ? zone.instantsOf(wall) : single(wall - offsetMs(offset));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const LONGEST_VALUE = 48;
const NAMES = new Set(['time', 'ts', 'timestamp', '@timestamp']);

/**
 * The time of the first top-level time field of the object in buf[from, to) that has one. It is found without parsing: skips
 * strings and counts the depth. A field of a nested object is never the time of the line, whatever its name. Undefined
 * when the line is not an object or has no valid time field.
 */
function topLevelTime(buf: Buffer, from: number, to: number, zone: Zone): LineInstants | undefined {
  let at = skipSpace(buf, skipBom(buf, from), to);
  if (buf[at] !== OPEN) return undefined;
  let depth = 0;
  let keyNext = false;
  for (; at < to; at += 1) {
    const byte = buf[at];
    if (byte === QUOTE) {
      const end = endOfString(buf, at + 1, to);
      if (depth === 1 && keyNext && isTimeName(buf, at + 1, end)) {
        const time = parseTimeValue(valueAfter(buf, end + 1, to), zone);
        if (time !== undefined) return time;
      }
      keyNext = false;
      at = end;
    } else if (byte === OPEN || byte === OPEN_LIST) {
      depth += 1;
      keyNext = byte === OPEN;
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return undefined;
    } else if (byte === COMMA) {
      keyNext = true;
    }
  }
  return undefined;
}

function skipBom(buf: Buffer, at: number): number {
  return buf[at] === 0xef && buf[at + 1] === 0xbb && buf[at + 2] === 0xbf ? at + 3 : at;
}

function skipSpace(buf: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (buf[at] === 0x20 || buf[at] === 0x09 || buf[at] === 0)) at += 1;
  return at;
}

/** @returns the position of the closing quote, or `to`. */
function endOfString(buf: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && buf[at] !== QUOTE) at += buf[at] === BACKSLASH ? 2 : 1;
  return Math.min(at, to);
}

function isTimeName(buf: Buffer, from: number, to: number): boolean {
  const length = to - from;
  return length >= 2 && length <= 10 && NAMES.has(buf.toString('latin1', from, to));
}

function valueAfter(buf: Buffer, from: number, to: number): string {
  let at = skipSpace(buf, from, to);
  if (buf[at] !== COLON) return '';
  at = skipSpace(buf, at + 1, to);
  const text = buf.toString('latin1', at, Math.min(to, at + LONGEST_VALUE));
  return text.startsWith('"') ? (text.slice(1).split('"', 1)[0] ?? '') : (/^[^,}\s]*/.exec(text)?.[0] ?? '');
}

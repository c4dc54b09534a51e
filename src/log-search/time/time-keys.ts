// Finds the value of a time key in JSON and in key=value text, for time-reader.ts. The keys of an object itself are found
// without parsing: strings are skipped and the depth is counted. Keys are compared without case and separators, so
// `Timestamp`, `time-stamp` and `time_stamp` are one.

/** These name the time of a line. */
const KEYS = new Set(
  'time timestamp @timestamp @t ts datetime timemillis timestampmillis timestampseconds eventtime logtime realtimetimestamp asctime timegenerated timelocal timeiso8601'.split(
    ' ',
  ),
);
const LONGEST_KEY = 24;
const LONGEST_VALUE = 128;
/** How far into a line to look for keys of nested objects and of key=value text. */
const KEYED_BYTES = 65_536;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;

/** undefined: no time. `several`: objects in the line have times. */
export type KeyedTime<T> = T | 'unreadable' | 'several' | undefined;

type Read<T> = (value: string) => KeyedTime<T>;

/** Logs have few keys. */
const MOST_KNOWN = 1_000;
const known = new Map<string, boolean>();

export function isTimeKey(key: string): boolean {
  let isTime = known.get(key);
  if (isTime === undefined) {
    isTime = KEYS.has(key.replace(/[^@A-Za-z\d]+/g, '').toLowerCase());
    if (known.size < MOST_KNOWN) known.set(key, isTime);
  }
  return isTime;
}

/** The first value that is a time. */
function firstTime<T>(values: Iterable<string>, read: Read<T>): KeyedTime<T> {
  let found: KeyedTime<T>;
  for (const value of values) {
    const time = read(value);
    if (time !== undefined && time !== 'unreadable') return time;
    found = 'unreadable';
  }
  return found;
}

/** The time of the object that begins buf[from, to), by a key of its own. */
export function timeOfObject<T>(buf: Buffer, from: number, to: number, read: Read<T>): KeyedTime<T> {
  const own = firstTime(valuesOfObject(buf, from, to), read);
  return own === undefined && !valuesOfPairs(buf, from, to).next().done ? 'several' : own;
}

/** The time of the first time key in key=value text. */
export function timeByKey<T>(buf: Buffer, from: number, to: number, read: Read<T>): KeyedTime<T> {
  return firstTime(valuesOfPairs(buf, from, to), read);
}

function* valuesOfObject(buf: Buffer, from: number, to: number): Generator<string> {
  let depth = 0;
  let keyNext = false;
  for (let at = from; at < to; at += 1) {
    const byte = buf[at];
    if (byte === QUOTE) {
      const end = endOfString(buf, at + 1, to);
      if (depth === 1 && keyNext && end - at <= LONGEST_KEY && isTimeKey(buf.toString('latin1', at + 1, end)))
        yield valueAfter(buf, end + 1, to);
      keyNext = false;
      at = end;
    } else if (byte === OPEN || byte === OPEN_LIST) {
      depth += 1;
      keyNext = byte === OPEN;
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) break;
    } else if (byte === COMMA) {
      keyNext = true;
    }
  }
}

const PAIR = /(?<![\w@$.-])([@\w.-]{1,24})\\*["']?\s*[:=]\s*(?:\\*["'])?(?=[\dA-Z/])/g;

function* valuesOfPairs(buf: Buffer, from: number, to: number): Generator<string> {
  const text = buf.toString('latin1', from, Math.min(to, from + KEYED_BYTES));
  for (const { 0: pair, 1: key = '', index } of text.matchAll(PAIR)) {
    if (!isTimeKey(key)) continue;
    const value = text.slice(index + pair.length, index + pair.length + LONGEST_VALUE);
    const ends = /["'\\,}]/.test(pair.slice(-1)) ? /["'\\]/ : /[,}\s"'\\]/;
    yield value.split(ends, 1)[0] ?? '';
  }
}

/** @returns the position of the closing quote, or `to`. */
function endOfString(buf: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && buf[at] !== QUOTE) at += buf[at] === BACKSLASH ? 2 : 1;
  return Math.min(at, to);
}

/** The value behind a key, as text; empty if it is no string and no number. */
function valueAfter(buf: Buffer, from: number, to: number): string {
  const text = buf.toString('latin1', from, Math.min(to, from + LONGEST_VALUE));
  const [, string, other] = /^[ \t]*:[ \t]*(?:"([^"]*)|([^,}\s[{"]*))/.exec(text) ?? [];
  return string ?? other ?? '';
}

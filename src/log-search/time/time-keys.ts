// Finds the value of a time key in JSON and in key=value text, for time-reader.ts. The keys of an object itself are found without
// parsing: strings are skipped and the depth is counted. Keys are compared without case and separators, so `Timestamp`,
// `@timestamp` and `time_stamp` are equal.

/** These name the time of a line. */
const KEYS = new Set(
  'time timestamp ts datetime timemillis timestampmillis timestampseconds eventtime logtime instant realtimetimestamp asctime timegenerated timelocal timeiso8601'.split(
    ' ',
  ),
);
/** These often have another meaning, and count only without any of the others. */
const WEAK_KEYS = new Set(['date', 't']);
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
const COLON = 0x3a;

/** undefined: no time. `several`: objects with different times. */
export type KeyedTime<T> = T | 'unreadable' | 'several' | undefined;

type Read<T> = (value: string) => KeyedTime<T>;

type Rank = 'strong' | 'weak' | 'none';

/** Logs have few different keys, so their ranks are cached. */
const MOST_RANKS = 1_000;
const ranks = new Map<string, Rank>();

function rankOf(key: string): Rank {
  let rank = ranks.get(key);
  if (rank === undefined) {
    const name = key.replace(/[^A-Za-z\d]+/g, '').toLowerCase();
    rank = KEYS.has(name) ? 'strong' : WEAK_KEYS.has(name) ? 'weak' : 'none';
    if (ranks.size < MOST_RANKS) ranks.set(key, rank);
  }
  return rank;
}

export function isTimeKey(key: string): boolean {
  return rankOf(key) !== 'none';
}

/** The values of the time keys of one object, or of one line of key=value text. */
class Values<T> {
  #weak: KeyedTime<T>;
  #date: string | undefined;
  #clock: string | undefined;
  #hasUnread = false;

  constructor(private readonly read: Read<T>) {}

  /** Returns the time of a key that names it. */
  offer(rank: Rank, value: string): T | undefined {
    if (/^\d{4}[-/.]\d\d?[-/.]\d\d?$/.test(value)) this.#date = value;
    else if (/^\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?$/.test(value)) this.#clock = value;
    else if (value !== '') {
      const time = this.read(value);
      const isRead = time !== undefined && time !== 'unreadable' && time !== 'several';
      if (rank === 'strong' && isRead) return time;
      if (rank === 'strong') this.#hasUnread = true;
      else if (isRead) this.#weak ??= time;
    }
    return undefined;
  }

  /** The time if no key named it. */
  rest(): KeyedTime<T> {
    if (this.#hasUnread) return 'unreadable';
    if (this.#weak !== undefined) return this.#weak;
    if (this.#clock === undefined) return undefined;
    return this.#date === undefined ? 'unreadable' : this.read(`${this.#date} ${this.#clock}`);
  }
}

/** The time of the object at the beginning of buf[from, to), by its own key, otherwise by one of its objects. */
export function timeOfObject<T>(buf: Buffer, from: number, to: number, read: Read<T>): KeyedTime<T> {
  const values = new Values(read);
  let depth = 0;
  let keyNext = false;
  for (let at = from; at < to; at += 1) {
    const byte = buf[at];
    if (byte === QUOTE) {
      const end = endOfString(buf, at + 1, to);
      if (depth === 1 && keyNext && end - at <= LONGEST_KEY) {
        const rank = rankOf(buf.toString('latin1', at + 1, end));
        const time = rank === 'none' ? undefined : values.offer(rank, valueAfter(buf, end + 1, to));
        if (time !== undefined) return time;
      }
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
  return values.rest() ?? timeInside(buf, from, to, read);
}

const PAIR = /(?<![\w@$.-])([@\w.-]{1,24})\\*["']?\s*[:=]\s*(?:\\*["'])?(?=[\dA-Z/])/g;

function* pairsIn(buf: Buffer, from: number, to: number): Generator<[rank: Rank, value: string]> {
  const text = buf.toString('latin1', from, Math.min(to, from + KEYED_BYTES));
  for (const { 0: pair, 1: key = '', index } of text.matchAll(PAIR)) {
    const rank = rankOf(key);
    if (rank === 'none') continue;
    const value = text.slice(index + pair.length, index + pair.length + LONGEST_VALUE);
    const ends = /["'\\,}]/.test(pair.slice(-1)) ? /["'\\]/ : /[,}\s"'\\]/;
    yield [rank, value.split(ends, 1)[0] ?? ''];
  }
}

/** The time of the first time key in key=value text. */
export function timeByKey<T>(buf: Buffer, from: number, to: number, read: Read<T>): KeyedTime<T> {
  const values = new Values(read);
  for (const [rank, value] of pairsIn(buf, from, to)) {
    const time = values.offer(rank, value);
    if (time !== undefined) return time;
  }
  return values.rest();
}

/** The time of nested or escaped objects, if all their times are equal. */
function timeInside<T>(buf: Buffer, from: number, to: number, read: Read<T>): KeyedTime<T> {
  let first: KeyedTime<T>;
  for (const [rank, value] of pairsIn(buf, from, to)) {
    const time = rank === 'strong' ? new Values(read).offer(rank, value) : undefined;
    first ??= time;
    if (time !== undefined && JSON.stringify(time) !== JSON.stringify(first)) return 'several';
  }
  return first;
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

/** The value after a key, as text; for an object its seconds and nanoseconds, or its date. */
function valueAfter(buf: Buffer, from: number, to: number): string {
  let at = skipSpace(buf, from, to);
  if (buf[at] !== COLON) return '';
  at = skipSpace(buf, at + 1, to);
  const text = buf.toString('latin1', at, Math.min(to, at + LONGEST_VALUE));
  if (text.startsWith('"')) return text.slice(1).split('"', 1)[0] ?? '';
  if (!text.startsWith('{')) return /^[^,}\s]*/.exec(text)?.[0] ?? '';
  const seconds = /"(?:epochSecond|seconds)"\s*:\s*"?(\d+)/.exec(text)?.[1];
  const nanos = /"(?:nanoOfSecond|nanos)"\s*:\s*(\d{1,9})/.exec(text)?.[1] ?? '';
  if (seconds !== undefined) return `${seconds}.${nanos.padStart(9, '0')}`;
  return /"\$(?:date|numberLong)"\s*:\s*"?([^"{}]+)/.exec(text)?.[1] ?? '';
}

/** The cells of a line, without quotes around them. */
export function splitCells(line: string, separator: string): string[] {
  return line.split(separator).map((cell) => cell.trim().replace(/^(["'])(.*)\1$/, '$2'));
}

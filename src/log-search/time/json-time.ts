// Finds the value of a time field of a JSON object without parsing it: it skips strings and counts the depth.
// Used by timestamps.ts. A field of a nested object is never the time of the line, whatever its name.

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
 * Passes the value of each top-level time field of the object in buf[from, to) to `read` until it returns a time.
 * Undefined when the line is not an object or has no valid time field.
 */
export function findTopLevelTime(
  buf: Buffer,
  from: number,
  to: number,
  read: (text: string) => number | undefined,
): number | undefined {
  let at = skipSpace(buf, skipBom(buf, from), to);
  if (buf[at] !== OPEN) return undefined;
  let depth = 0;
  let keyNext = false;
  for (; at < to; at += 1) {
    const byte = buf[at];
    if (byte === QUOTE) {
      const end = endOfString(buf, at + 1, to);
      if (depth === 1 && keyNext && isTimeName(buf, at + 1, end)) {
        const time = read(valueAfter(buf, end + 1, to));
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

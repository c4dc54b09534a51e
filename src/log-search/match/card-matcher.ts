// Matchers for a scan, and the matcher for a card: digit runs, checked at their borders. Used by line-scanner.ts on raw
// bytes; knows no files and no times.

import { indexOfBytes } from './find-bytes.ts';

/** Finds lines in two steps: cheap candidates, then a check of the line around each candidate. */
export interface LineMatcher {
  /** Maximum length of a candidate in bytes, so also the overlap between two pieces of a line. */
  readonly reach: number;
  /** The first candidate at or after `from`, -1 when there is none. */
  next(buf: Buffer, from: number): number;
  /** Whether the candidate at `at` is a match in its line buf[lineFrom, lineTo). */
  accepts(buf: Buffer, at: number, lineFrom: number, lineTo: number): boolean;
}

export const EVERY_LINE: LineMatcher = {
  reach: 1,
  next: (buf, from) => (from < buf.length ? from : -1),
  accepts: () => true,
};

/** Whether a single line matches. */
export function holds(matcher: LineMatcher, line: Buffer): boolean {
  for (let at = matcher.next(line, 0); at !== -1; at = matcher.next(line, at + 1)) {
    if (matcher.accepts(line, at, 0, line.length)) return true;
  }
  return false;
}

/** With this many digits or more an id is a whole card id, and a run of digits must equal it. */
const WHOLE_ID_DIGITS = 18;
/** An id of this length is often logged with a check digit after it. */
const ID_WITHOUT_CHECK_DIGIT = 19;

/**
 * Matches a card by its digits. An id of 18 or more digits matches a run of exactly these digits; an id of 19 also
 * matches a run of 20 that begins with it. A shorter id matches any run that contains it.
 */
export class CardMatcher implements LineMatcher {
  readonly reach: number;
  readonly #needle: Buffer;
  readonly #whole: boolean;

  constructor(card: string) {
    this.#needle = Buffer.from(card, 'latin1');
    this.#whole = card.length >= WHOLE_ID_DIGITS;
    this.reach = card.length + 2;
  }

  next(buf: Buffer, from: number): number {
    return indexOfBytes(buf, this.#needle, from);
  }

  accepts(buf: Buffer, at: number, lineFrom: number, lineTo: number): boolean {
    if (!this.#whole) return true;
    if (at > lineFrom && isDigit(buf[at - 1])) return false;
    const length = this.#needle.length;
    const end = at + length;
    if (end >= lineTo || !isDigit(buf[end])) return true;
    return length === ID_WITHOUT_CHECK_DIGIT && (end + 1 >= lineTo || !isDigit(buf[end + 1]));
  }
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

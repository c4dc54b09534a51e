// What a scan looks for, and which lines hold the card: digit runs by their borders. Used by line-scanner.ts on raw bytes;
// knows no files and no times.

import { indexOfBytes } from './find-bytes.ts';

/** What a scan looks for: cheap candidates first, then a look at the line around them. */
export interface LineMatcher {
  /** The longest a candidate can be, in bytes: what a border between two pieces of a line must overlap by. */
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

/** Whether a line by itself holds what the matcher looks for. */
export function holds(matcher: LineMatcher, line: Buffer): boolean {
  for (let at = matcher.next(line, 0); at !== -1; at = matcher.next(line, at + 1)) {
    if (matcher.accepts(line, at, 0, line.length)) return true;
  }
  return false;
}

/** From so many digits on an id is a whole card id, and a run of digits must equal it. */
export const WHOLE_ID_DIGITS = 18;
/** Such an id is often logged with a check digit behind it. */
const ID_WITHOUT_CHECK_DIGIT = 19;

/**
 * Matches a card by its digits. 18 and more: a run of digits equal to them (19 also match 20 that begin with them);
 * fewer: any run that contains them.
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

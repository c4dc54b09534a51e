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

/**
 * What is found for a card, by the number of its digits. Up to 18 digits are found in any run of digits that contains them: an
 * id of 18 digits is rare, and the beginning of one of 19 or 20 is often copied. A longer id is found as a run of exactly its
 * digits. Ids of 18 digits and more are also found in groups of four with a space or hyphen between them.
 * - `digits`: so many of them are looked for.
 * - `check`: the digit that may follow these, as the check digit of an id of 19: any one, or the one that was asked for.
 */
const WHOLE_IDS: ReadonlyArray<{ length: number; digits: number; check: 'none' | 'any' | 'same' }> = [
  { length: 19, digits: 19, check: 'any' },
  { length: 20, digits: 19, check: 'same' },
];
/** Ids of this many digits or more are also found in groups. */
const GROUPED_DIGITS = 18;

const GROUP = 4;
/** So many finds that are not the card, in one buffer, and another group is looked for. */
const MOST_MISSES = 64;

export class CardMatcher implements LineMatcher {
  readonly reach: number;
  readonly #digits: Buffer;
  readonly #mayBeGrouped: boolean;
  readonly #mayBePart: boolean;
  /** The digit that may follow; undefined: none; null: any one. */
  readonly #check: number | null | undefined;
  /**
   * The parts of a whole id that are the same in one run and in groups. One of them is looked for: it is in few other ids,
   * while what they begin with, or zeros, may be in every line.
   */
  readonly #parts: readonly { readonly bytes: Buffer; readonly offset: number; readonly group: number }[];
  #part = 0;
  #misses = 0;
  #searched: Buffer | null = null;

  constructor(card: string) {
    const rule = WHOLE_IDS.find(({ length }) => length === card.length);
    this.#digits = Buffer.from(card.slice(0, rule?.digits), 'latin1');
    this.#mayBeGrouped = card.length >= GROUPED_DIGITS;
    this.#mayBePart = card.length <= GROUPED_DIGITS;
    this.#check = { any: null, same: card.charCodeAt(card.length - 1), none: undefined }[
      rule?.check ?? 'none'
    ];
    this.reach = card.length + Math.ceil(card.length / GROUP) + 1;
    this.#parts = [3, 4, 2, 1].flatMap((group) => {
      const offset = group * GROUP;
      const bytes = this.#digits.subarray(offset, offset + GROUP);
      return bytes.length < GROUP - 1 ? [] : [{ bytes, offset, group }];
    });
  }

  next(buf: Buffer, from: number): number {
    if (!this.#mayBeGrouped) return indexOfBytes(buf, this.#digits, from);
    if (buf !== this.#searched) [this.#searched, this.#misses] = [buf, 0];
    for (let at = from; ; ) {
      const part = this.#parts[this.#part] ?? fail();
      const found = indexOfBytes(buf, part.bytes, at + part.offset);
      if (found === -1) return -1;
      const run = found - part.offset;
      if (this.#isRun(buf, run)) return run;
      const grouped = run - part.group;
      if (grouped >= from && this.#endOfGroups(buf, grouped) !== -1) return grouped;
      this.#misses += 1;
      at = run + 1;
      if (this.#misses % MOST_MISSES === 0) {
        this.#part = (this.#part + 1) % this.#parts.length;
        // The other group of a number that begins a little earlier may lie further on.
        at = Math.max(from, run - GROUP);
      }
    }
  }

  accepts(buf: Buffer, at: number, lineFrom: number, lineTo: number): boolean {
    const isRun = this.#isRun(buf, at);
    if (this.#mayBePart && isRun) return true;
    if (at > lineFrom && isDigit(buf[at - 1])) return false;
    const end = isRun ? at + this.#digits.length : this.#endOfGroups(buf, at);
    if (end === -1 || end > lineTo) return false;
    if (end === lineTo || !isDigit(buf[end])) return true;
    const mayFollow = this.#check === null || this.#check === buf[end];
    return mayFollow && (end + 1 >= lineTo || !isDigit(buf[end + 1]));
  }

  #isRun(buf: Buffer, at: number): boolean {
    const end = at + this.#digits.length;
    return end <= buf.length && buf.compare(this.#digits, 0, this.#digits.length, at, end) === 0;
  }

  /** Where the digits in groups of four that begin at `at` end; -1: they do not. */
  #endOfGroups(buf: Buffer, at: number): number {
    const separator = buf[at + GROUP];
    if (separator !== 0x20 && separator !== 0x2d) return -1;
    let end = at;
    for (let nth = 0; nth < this.#digits.length; nth += 1) {
      if (nth > 0 && nth % GROUP === 0 && buf[end++] !== separator) return -1;
      if (buf[end++] !== this.#digits[nth]) return -1;
    }
    return end;
  }
}

function fail(): never {
  throw new Error('a whole id has a part to look for');
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

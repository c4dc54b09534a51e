// Matchers for a scan, and the matcher for a card: digit runs, checked at their borders. Used by line-scanner.ts on raw
// bytes; knows no files and no times.

import { type FindBytes, finderOf, isAt } from './find-bytes.ts';

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
const SEPARATORS = [' ', '-'];

export class CardMatcher implements LineMatcher {
  readonly reach: number;
  readonly #digits: Buffer;
  /** The digits in groups of four; none for an id that is not looked for in groups. */
  readonly #grouped: readonly Buffer[];
  readonly #mayBePart: boolean;
  /** The digit that may follow; undefined: none; null: any one. */
  readonly #check: number | null | undefined;
  readonly #find: FindBytes;

  constructor(card: string) {
    const rule = WHOLE_IDS.find(({ length }) => length === card.length);
    const digits = card.slice(0, rule?.digits);
    this.#digits = Buffer.from(digits, 'latin1');
    const separators = card.length >= GROUPED_DIGITS ? SEPARATORS : [];
    this.#grouped = separators.map((separator) => Buffer.from(inGroups(digits, separator), 'latin1'));
    this.#mayBePart = card.length <= GROUPED_DIGITS;
    this.#check = { any: null, same: card.charCodeAt(card.length - 1), none: undefined }[
      rule?.check ?? 'none'
    ];
    this.reach = card.length + Math.ceil(card.length / GROUP) + 1;
    this.#find = finderOf([this.#digits, ...this.#grouped]);
  }

  next(buf: Buffer, from: number): number {
    return this.#find(buf, from);
  }

  accepts(buf: Buffer, at: number, lineFrom: number, lineTo: number): boolean {
    const isRun = isAt(buf, this.#digits, at);
    if (this.#mayBePart && isRun) return true;
    if (at > lineFrom && isDigit(buf[at - 1])) return false;
    const found = isRun ? this.#digits : this.#grouped.find((grouped) => isAt(buf, grouped, at));
    if (found === undefined) return false;
    const end = at + found.length;
    if (end > lineTo) return false;
    if (end === lineTo || !isDigit(buf[end])) return true;
    const mayFollow = this.#check === null || this.#check === buf[end];
    return mayFollow && (end + 1 >= lineTo || !isDigit(buf[end + 1]));
  }
}

function inGroups(digits: string, separator: string): string {
  return (digits.match(new RegExp(`.{1,${GROUP}}`, 'g')) ?? []).join(separator);
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

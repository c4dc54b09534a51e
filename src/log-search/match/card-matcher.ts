// The interface of matchers for a scan, and the matcher for a card: digit runs, checked at their borders. Used by line-scanner.ts
// on raw bytes; knows no files and no times.
import { type FindBytes, finderOf, isAt } from './find-bytes.ts';

/** Finds lines in two steps: cheap candidates, then a check of the line around each candidate. */
export interface LineMatcher {
  /** The first candidate at or after `from`, -1: none. */
  next(buf: Buffer, from: number): number;
  /** Whether the candidate at `at` is a match in its line buf[lineFrom, lineTo). */
  accepts(buf: Buffer, at: number, lineFrom: number, lineTo: number): boolean;
  /** Whether a rejected candidate contains the whole wanted number inside a longer one. */
  isInside?(buf: Buffer, at: number, lineTo: number): boolean;
}

/** Whether a single line matches. */
export function holds(matcher: LineMatcher, line: Buffer): boolean {
  for (let at = matcher.next(line, 0); at !== -1; at = matcher.next(line, at + 1)) {
    if (matcher.accepts(line, at, 0, line.length)) return true;
  }
  return false;
}

/**
 * How a card is searched, by the number of its digits. Up to 18 digits are found in any run of digits that contains them: an id
 * of 18 digits is rare, and the beginning of one of 19 or 20 is often copied. A longer id is found as a run of exactly its
 * digits. Ids of 18 digits and more are also found in groups of digits, as on a card, and those of 20 in the form in which a card
 * stores them.
 * - `digits`: number of digits to search for.
 * - `check`: the digit that may follow these, as the check digit of an id of 19: any, or the one in the given id.
 */
const WHOLE_IDS: ReadonlyArray<{ length: number; digits: number; check: 'none' | 'any' | 'same' }> = [
  { length: 19, digits: 19, check: 'any' },
  { length: 20, digits: 19, check: 'same' },
];
/** Ids of this many digits or more are also found in groups. */
const GROUPED_DIGITS = 18;

/** Number of digits of the first group and of the others, and the possible separators. Each form makes the search slower. */
const GROUPS = [
  [4, 4, [' ', '-', '\xc2\xa0']],
  [5, 5, [' ']],
  [2, 4, [' ']],
] as const;

export class CardMatcher implements LineMatcher {
  readonly #whole: Buffer;
  readonly #digits: Buffer;
  /** The digits in groups; empty for an id that is not searched in groups. */
  readonly #grouped: readonly Buffer[];
  readonly #mayBePart: boolean;
  /** The digit that may follow; undefined: none; null: any. */
  readonly #check: number | null | undefined;
  readonly #find: FindBytes;

  constructor(card: string) {
    const rule = WHOLE_IDS.find(({ length }) => length === card.length);
    const digits = card.slice(0, rule?.digits);
    this.#whole = Buffer.from(card, 'latin1');
    this.#digits = Buffer.from(digits, 'latin1');
    const forms = card.length >= GROUPED_DIGITS ? formsOf(digits, card) : [];
    this.#grouped = forms.map((form) => Buffer.from(form, 'latin1'));
    this.#mayBePart = card.length <= GROUPED_DIGITS;
    this.#check = { any: null, same: card.charCodeAt(card.length - 1), none: undefined }[
      rule?.check ?? 'none'
    ];
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

  isInside(buf: Buffer, at: number, lineTo: number): boolean {
    return at + this.#whole.length <= lineTo && isAt(buf, this.#whole, at);
  }
}

/** The digits in groups, and the whole id as a card stores it: with the digits of each pair swapped. */
function formsOf(digits: string, card: string): string[] {
  const grouped = GROUPS.flatMap(([first, others, separators]) => {
    const rest = digits.slice(first).match(new RegExp(`.{1,${others}}`, 'g')) ?? [];
    return separators.map((separator) => [digits.slice(0, first), ...rest].join(separator));
  });
  const stored = card.length === 20 ? [card] : card.length === 19 ? [`${card}F`, `${card}f`] : [];
  return [...grouped, ...stored.map((whole) => whole.replace(/(.)(.)/g, '$2$1'))];
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

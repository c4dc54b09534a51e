// What an operator may say when deciding about stops: bounds of lists and of reasons. Used by the API and the command line.
import { ONE_LINE } from '../one-line.ts';

/** Maximum number of cards in one request. */
export const MAX_ORDERED_CARDS = 100_000;

/** Characters of a reason, without white space around it. */
export const REASON_CHARS = { min: 1, max: 500 } as const;
export const REASON_RULE = `must be ${REASON_CHARS.min} to ${REASON_CHARS.max} characters on one line, without control characters`;

/** @param text without white space around it. */
export function isReason(text: string): boolean {
  const { min, max } = REASON_CHARS;
  return text.length >= min && text.length <= max && ONE_LINE.test(text);
}

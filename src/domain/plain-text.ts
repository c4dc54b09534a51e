// Text from outside, which terminals, logs and the audit trail show: what operators may write, and what is left of the words of
// others. log-search shows lines as they are, but for what would steer the terminal.

/**
 * No control characters, line separators, or marks that change the direction of what follows: these make a text look like
 * another one. Joiners are allowed, since some languages need them.
 */
export const ONE_LINE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u;

/** Controls, line separators, halves of pairs, and characters without a width that change how others are shown: joiners, direction marks. */
const STEERING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** @param instead of each run of characters that could steer a terminal or break a line. */
export function withoutSteering(text: string, instead: string): string {
  return text.replace(STEERING, instead);
}

/** Text on one line that does no harm. Names, reasons and messages come from outside. */
export function plainText(text: string): string {
  return withoutSteering(text, ' ');
}

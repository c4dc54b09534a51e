// Checks and cleans text from outside for terminals, logs and the audit trail: what operators may write, and how other text is
// shown. log-search shows lines unchanged, except for characters that control the terminal.

/**
 * No control characters, line separators, or marks that change the direction of the following text and so make it look like
 * another one. Joiners are allowed, since some languages need them.
 */
export const ONE_LINE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u;

/** Controls, line separators, halves of pairs, and zero-width characters that change others: joiners, direction marks. */
const STEERING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** @param instead replaces each run of characters that could control a terminal or break a line. */
export function withoutSteering(text: string, instead: string): string {
  return text.replace(STEERING, instead);
}

/** Makes text from outside, such as names, reasons and messages, harmless and one line long. */
export function plainText(text: string): string {
  return withoutSteering(text, ' ');
}

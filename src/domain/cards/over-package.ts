// How many running cards an import may put over their package of the month, and so have stopped. Used by the import, its
// route and its command. The budget of stops limits how fast they are stopped, and this how many an unseen file stops at all.

/** An import that says nothing may put so many cards over their package. */
export const ACCEPTED_OVER_PACKAGE = 100;

/** The code of the refusal of more. */
export const TOO_MANY_OVER_PACKAGE = 'cards_over_package';

/** @returns the most that an import may put over it when so many were counted before: polls find more until it is made. */
export function acceptedAfter(counted: number): number {
  return Math.ceil(counted * 1.1);
}

// How an answer for many cards can differ from what was asked: in another order, with a card twice, with a card nobody
// asked for, or without one.

export interface BatchTroubles {
  /** A call with any of these cards fails as a whole. */
  readonly poisoned: Set<string>;
  /** Left out of the answer, as unknown cards are. */
  readonly missing: Set<string>;
  /** Answered twice. */
  readonly doubled: Set<string>;
  /** Added to every answer, although not asked for. */
  readonly foreign: Set<string>;
  reversed: boolean;
}

export function batchTroubles(): BatchTroubles {
  return {
    poisoned: new Set(),
    missing: new Set(),
    doubled: new Set(),
    foreign: new Set(),
    reversed: false,
  };
}

/** The cards that an answer is about, in its order. */
export function answered(asked: readonly string[], troubles: BatchTroubles): string[] {
  const cards = asked
    .filter((iccid) => !troubles.missing.has(iccid))
    .flatMap((iccid) => (troubles.doubled.has(iccid) ? [iccid, iccid] : [iccid]));
  cards.push(...troubles.foreign);
  return troubles.reversed ? cards.reverse() : cards;
}

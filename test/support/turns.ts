// Whether each card of a ring got its turn, by the order in which the gateway was asked about them.

export interface Turns {
  /** Cards whose turn was left out. */
  readonly missed: readonly string[];
  /** Cards that were asked about twice in one turn. */
  readonly doubled: readonly string[];
}

/**
 * Judges the calls of one ring, in which every card has one turn a revolution, in an order that stays: between two calls of a card
 * lie those of all others, each once. Twice as many calls between them say that a turn was left out, much fewer that one came
 * double. A clock is not needed, and a halt of all cards is neither.
 */
export function turnsOf(cards: readonly string[], calls: readonly string[]): Turns {
  const last = new Map<string, number>(cards.map((card) => [card, 0]));
  const seen = new Set<string>();
  const missed = new Set<string>();
  const doubled = new Set<string>();
  const apart = (card: string, distance: number) => {
    if (distance > 1.5 * cards.length) missed.add(card);
    if (distance < 0.5 * cards.length && seen.has(card)) doubled.add(card);
  };
  calls.forEach((card, at) => {
    apart(card, at - (last.get(card) ?? 0));
    last.set(card, at);
    seen.add(card);
  });
  for (const [card, at] of last) if (calls.length - at > 1.5 * cards.length) missed.add(card);
  return { missed: [...missed], doubled: [...doubled] };
}

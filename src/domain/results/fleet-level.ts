// Whether the readings of a fleet that jumped are on another level: the second witness that a jump of their growth is not over when
// growth is as before. A gateway that changes its unit or its counter shows most cards the same factor, the same difference or the same value;
// no upload does that. Pure; used by engine/results/usage-jump-watch.ts.

/** A card that went over its package as the readings jumped, MB. */
export interface SteppedCard {
  /** What was shown before its last step; null: it has grown without one. */
  readonly beforeMb: number | null;
  /** What was shown when its stop was judged. */
  readonly shownMb: number;
}

/** So many cards over their package are a matter of their stops, not of the fleet. */
const FEW_OVER = 20;
/** Figures are alike if the largest is at most so many times the smallest: cards grow between two readings. */
const ALIKE = 1.06;

/**
 * @param sample cards that are over their package since the readings jumped
 * @returns few: not many are. spread: each grew by itself, as in an upload. step: another level.
 */
export function fleetLevelOf(sample: readonly SteppedCard[]): 'few' | 'spread' | 'step' {
  if (sample.length <= FEW_OVER) return 'few';
  const figures = [
    ({ beforeMb, shownMb }: SteppedCard) => (beforeMb === null ? null : shownMb / beforeMb),
    ({ beforeMb, shownMb }: SteppedCard) => (beforeMb === null ? null : shownMb - beforeMb),
    // A pool's total.
    ({ beforeMb, shownMb }: SteppedCard) => (beforeMb === null ? null : shownMb),
  ];
  const isStep = figures.some((figure) => mostAlike(sample.map(figure)) > sample.length / 2);
  return isStep ? 'step' : 'spread';
}

/** @returns how many of the figures are alike at most. */
function mostAlike(figures: ReadonlyArray<number | null>): number {
  const known = figures.filter((figure): figure is number => figure !== null && figure > 0);
  const sorted = known.sort((a, b) => a - b);
  let most = 0;
  let first = 0;
  for (const [last, figure] of sorted.entries()) {
    while (figure > ALIKE * (sorted[first] ?? figure)) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

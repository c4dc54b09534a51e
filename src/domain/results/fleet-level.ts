// Decides whether cards went over their package by themselves, or because the gateway shows another level: the second witness
// next to the growth of the readings (usage-growth.ts). A gateway that changes its unit or its counter changes most cards by the
// same factor, by the same difference or to the same value; no upload does that. Pure; used by engine/results.

/** A card that is over its package, MB. */
export interface SteppedCard {
  /** The reading before its last step; null: it has grown without one. */
  readonly beforeMb: number | null;
  /** The reading when its stop was judged. */
  readonly shownMb: number;
}

/** A card whose stop was judged recently. */
export interface OverCard extends SteppedCard {
  readonly carrierId: number;
  readonly requestedAtMs: number;
  /** Its stop is ordered, and not called yet. */
  readonly waits: boolean;
}

/** Up to this many cards over their package concern only their stops, not the fleet. */
export const FEW_OVER = 20;
/** Figures are alike if the largest is at most this many times the smallest: cards grow between two readings. */
const ALIKE = 1.06;
/** When more than this share of the read cards step over their package, usage alone does not explain it. */
const MANY_SHARE = 0.1;
/** Expected steps of other carriers' cards, if they stepped as well: with five expected, none happens once in 150 times. */
const ENOUGH_OF_OTHERS = 5;

/**
 * @param sample cards that are over their package since the readings jumped
 * @returns few: not many are. spread: each grew by itself, as in an upload. step: another level.
 */
export function fleetLevelOf(sample: readonly SteppedCard[]): 'few' | 'spread' | 'step' {
  if (sample.length <= FEW_OVER) return 'few';
  const figures = [
    ({ beforeMb, shownMb }: SteppedCard) => (beforeMb === null ? null : shownMb / beforeMb),
    ({ beforeMb, shownMb }: SteppedCard) => (beforeMb === null ? null : shownMb - beforeMb),
    // All readings have the same value, such as the total of a pool.
    ({ beforeMb, shownMb }: SteppedCard) => (beforeMb === null ? null : shownMb),
  ];
  const isStep = figures.some((figure) => mostAlike(sample.map(figure)) > sample.length / 2);
  return isStep ? 'step' : 'spread';
}

/** @returns the size of the largest group of figures that are alike. */
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

/** Number of cards that are read per second. */
export interface ReadingPace {
  readonly ofFleet: number;
  readonly ofCarriers: ReadonlyMap<number, number>;
}

/** calm: each card went over by its own usage. many: too many step over their package at once for that. step: another level. */
type Compared =
  | { readonly level: 'calm' | 'many' }
  /** carrierId null: the whole fleet. factor: the reading after the step, as a multiple of the reading before. */
  | { readonly level: 'step'; readonly carrierId: number | null; readonly factor: number };

/**
 * Compares the readings of cards that went over their package in the last minutes. Stops are held back only if two facts agree:
 * more than a tenth of the cards that were read stepped over it, and these steps are alike.
 * @param sample the latest of them first
 */
export function compareReadings(sample: readonly OverCard[], pace: ReadingPace): Compared {
  const stepped = sample.filter(({ beforeMb, shownMb }) => beforeMb !== null && beforeMb < shownMb);
  const carriers = [...new Set(stepped.map(({ carrierId }) => carrierId))].map((carrierId) => ({
    carrierId,
    level: levelAtOnce(
      stepped.filter((card) => card.carrierId === carrierId),
      pace.ofCarriers.get(carrierId) ?? 0,
    ),
  }));
  const levels = [levelAtOnce(stepped, pace.ofFleet), ...carriers.map(({ level }) => level)];
  if (!levels.includes('step')) return { level: levels.includes('many') ? 'many' : 'calm' };
  const [alone, another] = carriers.filter(({ level }) => level === 'step');
  const isOne = alone !== undefined && another === undefined && isAlone(alone.carrierId, stepped, pace);
  const carrierId = isOne ? alone.carrierId : null;
  const ofLevel = stepped.filter((card) => carrierId === null || card.carrierId === carrierId);
  const factors = ofLevel
    .map(({ beforeMb, shownMb }) => shownMb / (beforeMb as number))
    .sort((a, b) => a - b);
  return { level: 'step', carrierId, factor: factors[Math.floor(factors.length / 2)] as number };
}

/**
 * Whether only the cards of one carrier step: enough cards of other carriers were read meanwhile without a step. A step of the
 * whole fleet shows first where most cards are read.
 */
function isAlone(carrierId: number, stepped: readonly OverCard[], pace: ReadingPace): boolean {
  const ofCarrier = pace.ofCarriers.get(carrierId) ?? 0;
  const itsOwn = stepped.filter((card) => card.carrierId === carrierId).length;
  const expected = (itsOwn * (pace.ofFleet - ofCarrier)) / ofCarrier;
  return expected >= ENOUGH_OF_OTHERS && stepped.length - itsOwn < expected / 4;
}

/** @param cards that stepped over their package, the latest first @param perSecond cards that are read */
function levelAtOnce(cards: readonly OverCard[], perSecond: number): 'calm' | 'many' | 'step' {
  // The fastest part of the window: a burst does not become calm because time has passed.
  const spans = cards
    .slice(FEW_OVER)
    .map((card, i) => (cards[i] as OverCard).requestedAtMs - card.requestedAtMs);
  if (spans.length === 0) return 'calm';
  const seconds = Math.max(1, Math.min(...spans) / 1_000);
  if (FEW_OVER / seconds < MANY_SHARE * perSecond) return 'calm';
  return fleetLevelOf(cards) === 'step' ? 'step' : 'many';
}

/**
 * How many stops may be called before readings are compared again. The readings of waiting stops are compared by now.
 * @param most number of uncompared stops in a fleet of this size
 */
export function callsLeft(sample: readonly OverCard[], most: number): number {
  const stepped = sample.filter(({ beforeMb }) => beforeMb !== null).length;
  const waiting = sample.filter(({ waits }) => waits).length;
  // The first few cards of a step cannot be distinguished from ordinary usage yet.
  return stepped <= FEW_OVER ? most - stepped + waiting : most + waiting;
}

// Stops of cards: their states, and the rules that hold them back (docs/decisions/0032-safeguards-of-stops.md). Used by the
// engine, the operations and the stores. Plain data.
import { ONE_LINE } from '../plain-text.ts';
import { FEW_OVER } from '../results/fleet-level.ts';

/**
 * requested: to be called, or called and not shown by the gateway yet. done: the gateway showed the card stopped. held: waits
 * until its cause is over, or for an operator. observed: would have been called in mode enforce. dismissed: an operator cancelled
 * it. resumed: the card was stopped, and runs again by an order of an operator or because a month began.
 */
export const STOP_STATES = ['requested', 'done', 'held', 'observed', 'dismissed', 'resumed'] as const;
export type StopState = (typeof STOP_STATES)[number];

/**
 * The filters of lists of stops. spared: a card is over its package and runs, because an operator dismissed its stop or resumed
 * it. released: requested, because an operator released it. within: done, and the card is stopped although it is now within its
 * package.
 */
export const STOP_FILTERS = [...STOP_STATES, 'released', 'spared', 'within'] as const;
export const SPARING_STATES: readonly StopState[] = ['dismissed', 'resumed'];

/** For mode observe. @param cards the number, as it is shown. */
export function observedWords(cards: string | number): string {
  return `${cards} ${String(cards) === '1' ? 'card' : 'cards'} would have been stopped, none was`;
}

/** enforce: cards over their package are stopped. observe: cardpoll only records which would have been stopped. */
export const STOP_MODES = ['enforce', 'observe'] as const;
export type StopMode = (typeof STOP_MODES)[number];

/** Why a stop is held. reading_fell: its cause is over, but the card's counter fell meanwhile, so its usage may be wrong. */
export const HOLD_REASONS = ['usage_jump', 'budget_hour', 'budget_day', 'reading_fell'] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/**
 * The event that ends a hold. jump_end: the end of the jump of the readings. reading: its cause is over at a known time, and a
 * later reading that is over the allowance lets the stop be judged again. operator: it is doubtful, and stays held until an
 * operator decides.
 */
export const HOLD_ENDS = ['jump_end', 'reading', 'operator'] as const;
export type HoldEnd = (typeof HOLD_ENDS)[number];

/** Stops in a state are counted up to this number, so that the counts stay cheap in a large fleet. */
export const STOPS_COUNTED = 100_000;
/** Unconfirmed stops are counted up to this number, so that the count stays cheap when no stop of a fleet takes effect. */
export const UNCONFIRMED_STOPS_COUNTED = 10_000;
/** Vendors may need minutes for a stop: one without effect is counted this long after its first call was acknowledged. */
export const UNCONFIRMED_AFTER_MS = 180_000;

/**
 * Cards over their package that run without a cause are counted up to this number, because each is judged again when it is
 * counted.
 */
export const OVER_RUNNING_COUNTED = 10_000;
/** Number of their ids that are shown. */
export const OVER_RUNNING_SHOWN = 10;
/**
 * Stopping a card that has just gone over takes seconds; with a slow rate limit or a backlog, minutes. The time counts from when
 * the card was first found running over its package. A reading or a refused call does not restart it, so it never hides a card
 * for longer.
 */
export const OVER_RUNNING_GRACE_MS = 600_000;

/** `100,000+`: there may be more than the counted ones. */
export function countedText(count: number, most: number, number: (count: number) => string): string {
  return count < most ? number(count) : `${number(count)}+`;
}

/** A limit of stops: a number of cards, a share of the fleet, or none. */
export type StopLimit =
  | { readonly unit: 'cards'; readonly cards: number }
  | { readonly unit: 'percent'; readonly percent: number }
  | { readonly unit: 'none' };

/** The rules that a claim is judged by. */
export interface StopRules {
  /** In force unless the mode was set at run time. */
  readonly mode: StopMode;
  /** Stops that the whole fleet may call in an hour, and in a day; null: no limit. */
  readonly maxPerHour: number | null;
  readonly maxPerDay: number | null;
}

/** The settings `stops.*`; null: the default limit. */
export interface StopSettings {
  readonly mode: StopMode;
  readonly maxPerHour: StopLimit | null;
  readonly maxPerDay: StopLimit | null;
}

const PERCENT_PER_HOUR = 1;
const PERCENT_PER_DAY = 5;
/** A small fleet may stop this many cards in an hour, but no more than in a day. */
const USUAL_PER_HOUR = 100;

/** @param fleet number of cards. A share is rounded up, so that it allows at least one stop in any fleet. */
export function stopRulesOf(stops: StopSettings, fleet: number): StopRules {
  const perDay = shareOf(PERCENT_PER_DAY, fleet);
  const perHour = Math.max(shareOf(PERCENT_PER_HOUR, fleet), Math.min(USUAL_PER_HOUR, perDay));
  return {
    mode: stops.mode,
    maxPerHour: limitOf(stops.maxPerHour, perHour, fleet),
    maxPerDay: limitOf(stops.maxPerDay, perDay, fleet),
  };
}

function limitOf(limit: StopLimit | null, usual: number, fleet: number): number | null {
  if (limit === null) return usual;
  if (limit.unit === 'none') return null;
  return limit.unit === 'cards' ? limit.cards : shareOf(limit.percent, fleet);
}

function shareOf(percent: number, fleet: number): number {
  return Math.ceil((percent * Math.max(1, fleet)) / 100);
}

/** This share of a large fleet may be stopped before its readings are compared. */
const UNWATCHED_PERCENT = 0.01;

/** @returns how many stops may be called before the readings behind them are compared with each other. */
export function unwatchedAtMost(fleet: number): number {
  return Math.max(FEW_OVER, shareOf(UNWATCHED_PERCENT, fleet));
}

/** Most cards of one request of an operator about stops. */
export const MAX_ORDERED_CARDS = 100_000;

/** Length of an operator's reason, characters without surrounding white space. */
export const REASON_CHARS = { min: 1, max: 500 } as const;
export const REASON_RULE = `must be ${REASON_CHARS.min} to ${REASON_CHARS.max} characters on one line, without control characters`;

/** @param text without surrounding white space. */
export function isReason(text: string): boolean {
  const { min, max } = REASON_CHARS;
  return text.length >= min && text.length <= max && ONE_LINE.test(text);
}

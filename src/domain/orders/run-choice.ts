// Decides which cards a run resumes: those of a list, or the cards that were stopped since a time or in a month. Called when a
// run hands its cards out, and when the cards of a preview are counted. decide.ts decides afterwards whether a card's resume is
// called. Pure.
import type { CardFacts, StopOrder } from './card-orders.ts';

/** The selection criteria of a run. */
export interface RunChoice {
  /** When the run was ordered, epoch ms: later decisions stand. */
  readonly orderedAt: number;
  /** Only cards of this carrier; null: all carriers. Always null for a list. */
  readonly carrierId: number | null;
  /** Only stops of this month, YYYY-MM; null: any month. */
  readonly month: string | null;
}

export type PastStop = Pick<
  StopOrder,
  'month' | 'state' | 'authority' | 'iccid' | 'requestedAt' | 'unresolved'
> & {
  /** A call may be in flight, or may not be repeated yet. */
  readonly isClaimed: boolean;
};

/** A card that a run considers. */
export interface Candidate {
  /** null: no such card. */
  readonly card: Pick<CardFacts, 'iccid' | 'stopped' | 'carrierId'> | null;
  /** The card waits in this run or another one. */
  readonly waitsInRun: boolean;
  /** The card comes from the run's list, not from a stop. */
  readonly isListed: boolean;
  /** The stop through which the run found the card; for a list the card's newest one, null without one. */
  readonly stop: PastStop | null;
  /** Stops of later months; null: none. */
  readonly laterStops: readonly PastStop[] | null;
}

/** Whether the run takes the card: it is known and waits in no run, and the list or the stop justifies it. */
export function isChosen(
  { card, waitsInRun, isListed, stop, laterStops }: Candidate,
  choice: RunChoice,
): boolean {
  if (card === null || waitsInRun) return false;
  if (isListed) return !isOrderedLater(stop, choice.orderedAt);
  // A card with stops of several months is taken once, by the latest. A run of one month considers only that month's.
  const isLatest = choice.month !== null || laterStops?.some(mayBeInEffect) !== true;
  return stop !== null && isLatest && isOfRun(stop, card, choice);
}

/** A stop that an operator ordered after the run stays. */
function isOrderedLater(stop: PastStop | null, orderedAt: number): boolean {
  if (stop === null || stop.authority !== 'operator') return false;
  return (stop.state === 'requested' || stop.state === 'done') && stop.requestedAt >= orderedAt;
}

function isOfRun(
  stop: PastStop,
  card: NonNullable<Candidate['card']>,
  { orderedAt, carrierId, month }: RunChoice,
): boolean {
  return (
    mayBeInEffect(stop) &&
    (card.stopped || stop.state === 'requested') &&
    stop.iccid === card.iccid &&
    stop.requestedAt < orderedAt &&
    stop.month === (month ?? stop.month) &&
    card.carrierId === (carrierId ?? card.carrierId)
  );
}

/** cardpoll stopped the card by its own decision, or may have: the stop was called, and no poll has seen its effect yet. */
function mayBeInEffect({ state, authority, isClaimed, unresolved }: PastStop): boolean {
  const mayBeCalled = state === 'requested' && (isClaimed || unresolved);
  return (state === 'done' || mayBeCalled) && authority !== 'operator';
}

// Which cards a run resumes: of a list, or of the cards that were stopped since a time or in a month. Asked when a run hands its cards out, and
// when the cards of a preview are counted. Whether a card's resume is called is decided afterwards (decide.ts). Pure.
import type { CardFacts, StopOrder } from './card-orders.ts';

/** What a run chooses by. */
export interface RunChoice {
  /** When the run was ordered, epoch ms: what was decided later stays. */
  readonly orderedAt: number;
  /** Only cards of this carrier; null: of all. A list has any. */
  readonly carrierId: number | null;
  /** Only stops of this month, YYYY-MM; null: of any. */
  readonly month: string | null;
}

export type PastStop = Pick<
  StopOrder,
  'month' | 'state' | 'authority' | 'iccid' | 'requestedAt' | 'unresolved'
> & {
  /** A call may be under way, or may not be repeated yet. */
  readonly isClaimed: boolean;
};

/** A card that a run meets. */
export interface Candidate {
  /** null: there is no such card. */
  readonly card: Pick<CardFacts, 'iccid' | 'stopped' | 'carrierId'> | null;
  /** In this run or another one. */
  readonly waitsInRun: boolean;
  /** The run meets the card in its list, and not by a stop. */
  readonly isListed: boolean;
  /** The stop by which the run meets the card; of a card in a list the newest one, null without one. */
  readonly stop: PastStop | null;
  /** Of later months than that one; null: none. */
  readonly laterStops: readonly PastStop[] | null;
}

/** Whether the run takes the card: it is known and waits in no run, and the list, or the stop, speaks for it. */
export function isChosen(
  { card, waitsInRun, isListed, stop, laterStops }: Candidate,
  choice: RunChoice,
): boolean {
  if (card === null || waitsInRun) return false;
  if (isListed) return !isOrderedLater(stop, choice.orderedAt);
  // A card with stops of several months is taken once, by the latest. A run of one month asks for that month's only.
  const isLatest = choice.month !== null || laterStops?.some(mayBeInEffect) !== true;
  return stop !== null && isLatest && isOfRun(stop, card, choice);
}

/** The stop that an operator ordered after the run stays. */
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

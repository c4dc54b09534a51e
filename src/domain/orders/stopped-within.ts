// The counterpart of runsOver (decide.ts): a card that cardpoll stopped for its usage, and that is now within its package. Its
// allowance was raised, its usage corrected, or a month began. Pure.
import type { CardFacts, CardOrders, JumpFacts, StopOrder, UsageFacts } from './card-orders.ts';
import { exceeds, isOfIccid, orderOf, readAtOf } from './decide.ts';

/**
 * The stop of a card that is within its package in the current month, by a sound reading of its current SIM. null: the card runs,
 * is over or not read yet, waits in a run that resumes it, or its last stop is not cardpoll's own: an operator ordered it, or
 * another system made it.
 */
export function stoppedWithin(facts: CardOrders): StopOrder | null {
  const { card, usage, stops, resumes } = facts;
  if (card === null || !card.stopped || usage === null || !isWithin(card, usage)) return null;
  if (orderOf(facts, card) !== null || resumes.some(({ state }) => state === 'waiting')) return null;
  const last = stops.find(({ iccid }) => iccid === card.iccid);
  return last?.state === 'done' && last.authority !== 'operator' ? last : null;
}

/** The same for a stopped card after an import. @param next the card's new values */
export function fitsWith(facts: CardOrders, next: Pick<CardFacts, 'iccid' | 'allowanceMb'>): boolean {
  const { card } = facts;
  return card !== null && stoppedWithin({ ...facts, card: { ...card, ...next } }) !== null;
}

/**
 * Whether a stopped card may be resumed without an operator: a reading was taken after its stop and after the last change of its
 * allowance and its SIM, and the readings of the fleet are not doubtful.
 */
export function isConfirmedWithin(facts: CardOrders, jump: JumpFacts): boolean {
  const { card } = facts;
  const stop = stoppedWithin(facts);
  if (card === null || stop === null || (jump.since !== null && jump.acceptedAt === null)) return false;
  const stoppedAt = stop.completedAt ?? stop.requestedAt;
  return readAtOf(facts) > Math.max(stoppedAt, card.allowanceChangedAt ?? 0, card.iccidChangedAt ?? 0);
}

function isWithin(card: CardFacts, usage: UsageFacts): boolean {
  return !exceeds(card, usage) && !usage.isSuspected && !usage.closed && isOfIccid(card, usage);
}

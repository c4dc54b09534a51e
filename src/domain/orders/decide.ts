// THE rules of stops and resumes: whether a call that stops or resumes a card may be made now, and if not, why. Every part of
// cardpoll decides by these rules: the claims before a call, the checks of polls, lists, `explain` and the walk that counts cards
// over their package (docs/stops.md, docs/states.md). Pure: no clock, no store.
import type { HoldEnd, HoldReason } from '../stops/stop.ts';
import type {
  CardFacts,
  CardOrders,
  CardResume,
  JumpFacts,
  ShownCard,
  StopControlFacts,
  StopOrder,
  UsageFacts,
} from './card-orders.ts';
import { uncounted, usedUp } from './stop-budget.ts';
import { isOfCall, isOverdue, isUnderWay, NO_WORK, type VendorWork } from './vendor-work.ts';

/** Why no stop is called. */
type WhyNot =
  | 'other_iccid' // the card's SIM is not the one that the gateway showed
  | 'not_over' // unknown, within its allowance, or its usage is in doubt
  | 'done' // stopped once in this month with this SIM and allowance, resumed, or dismissed
  | 'held' // held before, and the cause still lasts
  | 'resuming' // the card waits in a run that resumes it, which an operator created later
  | 'unwatched' // many cards went over their package at once, and their readings must be compared first
  | 'claimed' // a call is in flight, or its outcome is still unknown
  | 'pending' // the vendor reports that it works on a call
  | 'unconfirmed'; // acknowledged without effect, and too early to repeat

/** The facts behind a decision about a stop, and the decision. */
export type StopVerdict =
  | ({ readonly act: 'call' } & Judged)
  | ({ readonly act: 'hold'; readonly heldBy: HoldReason } & Judged)
  | ({ readonly act: 'observe' } & Judged)
  /** The vendor works on the card: the call waits for the end of that, at most this long. */
  | ({ readonly act: 'wait'; readonly forMs: number } & Judged)
  | { readonly act: 'none'; readonly why: WhyNot; readonly stop: StopOrder | null };

interface Judged {
  readonly card: CardFacts;
  /** The month of the stop, YYYY-MM: an operator's order may be older than the current month. */
  readonly month: string;
  /** The former stop; null: none. */
  readonly stop: StopOrder | null;
  /** It is about another SIM or allowance, or starts again: no part of the former stop continues. */
  readonly isNewStop: boolean;
}

/**
 * Decides whether the stop of a card that runs at the gateway may be called. The rules, in this order: the SIM is the card's
 * current one; an operator ordered the stop, or the card is over its package; no call is in flight; the card is not exempt; the
 * mode, a jump of the readings, the watch that compares them and the budget allow it. @param shown the card as the gateway shows
 * it
 */
export function decideStop(facts: CardOrders, shown: ShownCard, control: StopControlFacts): StopVerdict {
  const { card, now } = facts;
  if (card === null) return { act: 'none', why: 'not_over', stop: null };
  const order = orderOf(facts, card);
  const month = order?.month ?? facts.month;
  const stop = facts.stops.find((one) => one.month === month) ?? null;
  const no = (why: WhyNot) => ({ act: 'none', why, stop }) as const;
  if (!isOfCard(card, shown)) return no('other_iccid');
  if (order === null && !isOver(card, facts.usage)) return no('not_over');
  if (facts.resumes.some(({ state }) => state === 'waiting')) return no('resuming');
  const claimed = facts.stops.find((one) => isClaimed(one, now) && isInTheWay(one, stop, facts, shown));
  if (claimed !== undefined) return no(whyClaimed(claimed, now));
  if (stop !== null && isForFormerIccid(stop, card)) return no('not_over');
  const isSpared = stop !== null && spares(stop, card, readAtOf(facts), control.jump);
  if (isSpared && stop.state !== 'observed') return no(stop.state === 'held' ? 'held' : 'done');
  const isNewStop = stop !== null && !isSpared && !isSameStop(stop, card);
  const judged = { card, month, stop, isNewStop };
  if (stop !== null && hasFallen(stop, card, facts.usage)) {
    return { act: 'hold', heldBy: 'reading_fell', ...judged };
  }
  const judgement = judgedBy(control, card, now, isNewStop ? null : stop);
  if (judgement.act === 'unwatched') return no('unwatched');
  const work = stop !== null && isSameStop(stop, card) ? stop : NO_WORK;
  return judgement.act === 'call' && isAwaited(shown, work, now)
    ? { act: 'wait', forMs: shown.pendingForMs, ...judged }
    : { ...judgement, ...judged };
}

/** Includes calls of another month: two calls for a SIM must not be in flight at once. */
function isInTheWay(
  one: StopOrder,
  stop: StopOrder | null,
  { card, resumes, now }: CardOrders,
  { pendingForMs = null }: ShownCard,
): boolean {
  if (one !== stop) return one.iccid === card?.iccid && (isUnanswered(one) || isUnderWay(one, now));
  if (one.chargedAt !== null || pendingForMs !== null) return true;
  // It waits for the call of a resume. The vendor worked on that, and its effect shows.
  return !resumes.some((resume) => resume.state === 'cancelled' && isUnderWay(resume, now));
}

function whyClaimed(stop: StopOrder, now: number): WhyNot {
  if (isUnderWay(stop, now)) return 'pending';
  return stop.acknowledgedAt === null ? 'claimed' : 'unconfirmed';
}

/** After the vendor's time is over its status is no reason to wait; otherwise an order might never end. */
function isAwaited(
  shown: ShownCard,
  work: VendorWork,
  now: number,
): shown is ShownCard & { readonly pendingForMs: number } {
  return (shown.pendingForMs ?? null) !== null && !isOverdue(work, now);
}

/** A stop with an authority is not held, because an operator decided, but it is counted. */
function judgedBy(
  { mode, jump, counts, maxPerHour, maxPerDay, watchedUntil }: StopControlFacts,
  { carrierId }: CardFacts,
  now: number,
  stop: StopOrder | null,
): { act: 'call' } | { act: 'observe' } | { act: 'unwatched' } | { act: 'hold'; heldBy: HoldReason } {
  if (mode === 'observe') return { act: 'observe' };
  if (stop !== null && stop.authority !== null) return { act: 'call' };
  if (jump.since !== null && jump.acceptedAt === null && (jump.carrierId ?? carrierId) === carrierId) {
    return { act: 'hold', heldBy: 'usage_jump' };
  }
  const isWatched = watchedUntil !== null && watchedUntil > now && jump.acceptedAt === null;
  if (isWatched && counts.unwatchedLeft <= 0) return { act: 'unwatched' };
  // An earlier call of the same stop is counted now instead.
  const others = stop === null || stop.chargedAt === null ? counts : uncounted(counts, stop.chargedAt);
  const heldBy = usedUp(others, maxPerHour, maxPerDay);
  return heldBy === null ? { act: 'call' } : { act: 'hold', heldBy };
}

/** The newest stop that an operator ordered for the card's current SIM. */
export function orderOf({ stops }: Pick<CardOrders, 'stops'>, card: CardFacts): StopOrder | null {
  const isOrder = ({ state, authority, iccid }: StopOrder) =>
    state === 'requested' && authority === 'operator' && iccid === card.iccid;
  return stops.find(isOrder) ?? null;
}

export function isOfCard(card: CardFacts, { iccid, vendorId }: ShownCard): boolean {
  return card.iccid === iccid && card.vendorId === vendorId;
}

/** Over by a sound reading: of the current SIM, taken since the card has it, not doubtful, and of a month that is not closed. */
export function isOver(card: CardFacts, usage: UsageFacts | null): boolean {
  return (
    usage !== null && exceeds(card, usage) && !usage.isSuspected && isOfIccid(card, usage) && !usage.closed
  );
}

export function exceeds({ allowanceMb }: CardFacts, { usedMb }: UsageFacts): boolean {
  return allowanceMb !== null && usedMb > allowanceMb;
}

export function isOfIccid(card: CardFacts, { iccid, readAt }: UsageFacts): boolean {
  return (iccid ?? card.iccid) === card.iccid && readAt > (card.iccidChangedAt ?? Number.NEGATIVE_INFINITY);
}

/** A call may be in flight, or may not be repeated yet. */
export function isClaimed({ state, claimedUntil }: StopOrder, now: number): boolean {
  return state === 'requested' && claimedUntil !== null && claimedUntil > now;
}

/** An operator's decision about the card's former SIM does not apply to the current one. */
function isForFormerIccid({ state, authority, iccid }: StopOrder, card: CardFacts): boolean {
  return state === 'requested' && authority !== null && iccid !== card.iccid;
}

/** No call of it can still take effect. */
export function isUncalled({ chargedAt, acknowledgedAt, unresolved }: StopOrder): boolean {
  return chargedAt === null && acknowledgedAt === null && !unresolved;
}

/** The same stop is called again. */
export function isSameStop({ state, iccid }: StopOrder, card: CardFacts): boolean {
  return state === 'requested' && iccid === card.iccid;
}

/** Correct readings after wrong ones are lower, and the usage may still contain what the wrong ones counted. */
function hasFallen(
  { state, iccid, readingMb }: StopOrder,
  card: CardFacts,
  usage: UsageFacts | null,
): boolean {
  return (
    state === 'held' &&
    iccid === card.iccid &&
    readingMb !== null &&
    usage !== null &&
    usage.lastReadingMb < readingMb
  );
}

/** A time further ahead comes from a wrong clock, as for readings, and is ignored. */
const AHEAD_AT_MOST_MS = 3_600_000;

/** When the card's usage was last read, including readings that changed nothing. */
export function readAtOf({ now, usage, polledAt }: CardOrders): number {
  const polled =
    polledAt !== null && polledAt <= now + AHEAD_AT_MOST_MS ? polledAt : Number.NEGATIVE_INFINITY;
  return Math.max(usage?.readAt ?? Number.NEGATIVE_INFINITY, polled);
}

/**
 * Whether a stop settles its card for this reading. A stop that is requested does not: its call may be made again. Otherwise a
 * reading decides only if it was taken after what it decides about: the change of a card whose stop is not final any more, the end of
 * what held the stop, or the resume of a card that may be stopped again.
 */
function spares(stop: StopOrder, card: CardFacts, readAt: number, jump: JumpFacts): boolean {
  if (stop.state === 'requested') return false;
  if (!isFinal(stop, card)) {
    const { iccidChangedAt, allowanceChangedAt } = card;
    return readAt <= Math.max(iccidChangedAt ?? 0, allowanceChangedAt ?? 0, stop.resumedAt ?? 0);
  }
  if (stop.state === 'held') return readAt <= (holdOverAt(stop, jump) ?? Number.POSITIVE_INFINITY);
  return !(stop.state === 'resumed' && stop.stopAgain && readAt > (stop.resumedAt ?? 0));
}

/** A stop decides about its card while the card has the same SIM, and its allowance was not raised since. */
function isFinal(stop: StopOrder, { iccid, allowanceMb }: CardFacts): boolean {
  const size = (mb: number | null) => mb ?? Number.POSITIVE_INFINITY;
  return stop.iccid === iccid && size(allowanceMb) <= size(stop.allowanceMb);
}

const HOUR_MS = 3_600_000;

/**
 * When the cause of a held stop is over; infinity: it lasts. null: an operator decides. The stops allowed in an hour are free
 * again an hour later, whatever was called before the stop was held.
 */
function holdOverAt(
  { heldBy, requestedAt }: Pick<StopOrder, 'heldBy' | 'requestedAt'>,
  { since, overAt, doubtfulUntil }: JumpFacts,
): number | null {
  if (heldBy === 'budget_hour') return requestedAt + HOUR_MS;
  if (heldBy !== 'usage_jump') return null;
  if (doubtfulUntil !== null && requestedAt <= doubtfulUntil) return null;
  return since === null ? Math.max(requestedAt, overAt ?? 0) : Number.POSITIVE_INFINITY;
}

/** The event that ends a hold, and its time; for lists. */
export function holdEnd(
  stop: Pick<StopOrder, 'heldBy' | 'requestedAt'>,
  jump: JumpFacts,
): { readonly heldFor: HoldEnd; readonly heldUntil: number | null } {
  const at = holdOverAt(stop, jump);
  if (at === null) return { heldFor: 'operator', heldUntil: null };
  return Number.isFinite(at)
    ? { heldFor: 'reading', heldUntil: at }
    : { heldFor: 'jump_end', heldUntil: null };
}

/**
 * Why a card runs although it is over its package in the current month. over_running: nothing explains it. spared: an operator
 * decided so. null: it is not over, does not run, or a stop explains it: a waiting one, an observed one, or one that the gateway
 * acknowledged, which is a separate figure. A stop that is done explains nothing, nor one that the gateway refuses each time.
 */
export function runsOver(facts: CardOrders, jump: JumpFacts): 'over_running' | 'spared' | null {
  const { card, usage, month } = facts;
  if (card === null || card.stopped || usage === null || !exceeds(card, usage) || usage.closed) return null;
  const stop = facts.stops.find((one) => one.month === month) ?? null;
  if (stop !== null) {
    const isSpared = spares(stop, card, readAtOf(facts), jump);
    if (isSpared && (stop.state === 'dismissed' || stop.state === 'resumed')) return 'spared';
    const isHeld = stop.state === 'held' && isFinal(stop, card);
    const isObserved = isSpared && stop.state === 'observed';
    if (isHeld || isObserved || (stop.acknowledgedAt !== null && isSameStop(stop, card))) return null;
  }
  return isOver(card, usage) ? 'over_running' : null;
}

/**
 * Whether an import puts a card over its package, so that its stop will be ordered. For the preview of the import. @param next
 * the card's new values
 */
export function goesOver(facts: CardOrders, next: Pick<CardFacts, 'iccid' | 'allowanceMb'>): boolean {
  const { card, usage, month } = facts;
  if (card === null || card.stopped || usage === null) return false;
  const after = { ...card, ...next };
  if (exceeds(card, usage) || !exceeds(after, usage)) return false;
  const stop = facts.stops.find((one) => one.month === month) ?? null;
  const isDecided = stop !== null && stop.state !== 'requested' && isFinal(stop, after);
  return !isDecided || (stop.state === 'resumed' && stop.stopAgain);
}

/** A card without new readings never closes its month. */
const MONTH_ENDS_AFTER_MS = 32 * 86_400_000;

/** A call takes effect within this time; a stop that shows even later was made by another system. */
export const LATE_AT_MOST_MS = 86_400_000;

/**
 * Whether a stop has nothing to wait for any more, because its card is not over its package, is stopped, or the month is over: a
 * held, observed or uncalled stop, or one whose last call had no effect for a day.
 */
export function isUnwanted(stop: StopOrder, { card, now, newestUsage }: CardOrders): boolean {
  const { state, authority, chargedAt, requestedAt } = stop;
  const isLeft =
    state === 'requested' &&
    authority === null &&
    !isClaimed(stop, now) &&
    (isUncalled(stop) || (chargedAt ?? requestedAt) < now - LATE_AT_MOST_MS);
  const isWaiting = state === 'held' || state === 'observed' || isLeft;
  const usage = newestUsage?.month === stop.month ? newestUsage : null;
  const isWantedStill =
    card !== null &&
    !card.stopped &&
    card.iccid === stop.iccid &&
    usage !== null &&
    exceeds(card, usage) &&
    !usage.closed &&
    Date.parse(`${stop.month}-01`) > now - MONTH_ENDS_AFTER_MS;
  return isWaiting && !isWantedStill;
}

/** Why the resume of a card is not called. */
type WhyNotResumed =
  | 'other_iccid' // the status belongs to another SIM
  | 'running' // the gateway shows it running, so no call is needed
  | 'settling' // it runs, and a call that stops it may still take effect
  | 'stopping' // a call that stops the card may be in flight
  | 'claimed' // another caller has the claim
  | 'pending' // the vendor reports that it works on the call
  | 'unconfirmed'; // acknowledged without effect, and too early to repeat

export type ResumeVerdict =
  /** The card waits in no run. */
  | { readonly act: 'nothing' }
  | { readonly act: 'call'; readonly resume: CardResume }
  /** Too many calls were acknowledged without effect, the last one included. */
  | { readonly act: 'give_up'; readonly resume: CardResume }
  /** The vendor works on the card: the call waits for the end of that, at most this long. */
  | { readonly act: 'wait'; readonly forMs: number; readonly resume: CardResume }
  | { readonly act: 'none'; readonly why: WhyNotResumed; readonly resume: CardResume };

/** A card that still runs after this time will not be stopped by the earlier call: twice the time that gateways need. */
const SETTLED_AFTER_MS = 60_000;

/** Whether the resume of a card that waits in a run may be called. @param isShownStopped as the gateway shows the SIM */
export function decideResume(facts: CardOrders, shown: ShownCard, isShownStopped: boolean): ResumeVerdict {
  const { card, now, resumes } = facts;
  const resume = resumes.find(({ state }) => state === 'waiting');
  if (resume === undefined) return { act: 'nothing' };
  const no = (why: WhyNotResumed) => ({ act: 'none', why, resume }) as const;
  if (card === null || !isOfCard(card, shown)) return no('other_iccid');
  const ofIccid = facts.stops.filter(({ iccid }) => iccid === shown.iccid);
  const isCalled = ofIccid.some((stop) => isClaimed(stop, now) && isUnanswered(stop));
  if (isAwaited(shown, resume, now)) return { act: 'wait', forMs: shown.pendingForMs, resume };
  if (!isShownStopped && (shown.pendingForMs ?? null) === null)
    return no(isCalled || ofIccid.some((stop) => mayFollow(stop, now)) ? 'settling' : 'running');
  if (isCalled) return no('stopping');
  if (isHeldBack(resume, now) || resumes.some((one) => isFormerCall(one, now))) {
    if (isUnderWay(resume, now)) return no('pending');
    return no(resume.unconfirmed > 0 ? 'unconfirmed' : 'claimed');
  }
  const isLast = isOfCall(resume) && resume.unconfirmed + 1 >= UNCONFIRMED_AT_MOST;
  return { act: isLast ? 'give_up' : 'call', resume };
}

/** A resume fails after this many calls that were acknowledged without effect. */
export const UNCONFIRMED_AT_MOST = 5;

/** The gateway has not answered since a call was made. */
function isUnanswered({ chargedAt, acknowledgedAt }: StopOrder): boolean {
  return chargedAt !== null && chargedAt > (acknowledgedAt ?? Number.NEGATIVE_INFINITY);
}

/** A stop that was seen once proves its last call only if there was no other call. */
function mayFollow(stop: StopOrder, now: number): boolean {
  const { state, attempts, chargedAt } = stop;
  if (isClaimed(stop, now) && isUnderWay(stop, now)) return true;
  const isOpen = state === 'requested' || (state === 'done' && attempts > 1);
  return isOpen && chargedAt !== null && chargedAt > now - SETTLED_AFTER_MS;
}

function isHeldBack({ claimedUntil }: Pick<CardResume, 'claimedUntil'>, now: number): boolean {
  return claimedUntil !== null && claimedUntil > now;
}

/** A call of a run that the card was removed from. */
export function isFormerCall(resume: CardResume, now: number): boolean {
  return resume.state === 'cancelled' && isHeldBack(resume, now) && mayTakeEffect(resume, now);
}

/** After a call without effect the claim is only a pause. */
export function mayTakeEffect(resume: CardResume, now: number): boolean {
  return resume.unconfirmed === 0 || resume.unresolved || isUnderWay(resume, now);
}

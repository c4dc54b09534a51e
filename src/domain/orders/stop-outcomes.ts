// The changes to the stop of a card: after a decision (decide.ts), after the gateway's answer to a call or its status of the
// card, and after an operator's order. Each function takes the facts of the card and returns the rows to write, all of them or
// none. Pure.
import type { Actor } from '../audit.ts';
import { monthBefore } from '../cards/month-calendar.ts';
import type {
  AuditedChange,
  CardFacts,
  CardOrders,
  CardResume,
  Changes,
  ShownCard,
  StopControlFacts,
  StopOrder,
} from './card-orders.ts';
import {
  decideStop,
  isClaimed,
  isFormerCall,
  isOfCard,
  isOver,
  isSameStop,
  isUncalled,
  LATE_AT_MOST_MS,
  mayTakeEffect,
  orderOf,
  type StopVerdict,
} from './decide.ts';
import { counted, type StopCounts, uncounted } from './stop-budget.ts';
import { isOfCall, isUnderWay, NO_WORK, nextLookAt, type VendorWork, workSeen } from './vendor-work.ts';

/** Pause between calls that are acknowledged without effect: from half a minute, doubling, to an hour. */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Pause after a call that could not be made, or that failed for a reason other than its card. */
export const SOON_MS = 10_000;

const OF_FORMER_ICCID = 'the card has another SIM now';

/** The rows of a decision about a stop. @param leaseMs how long the claim of a call lasts */
export function stopDecided(
  facts: CardOrders,
  shown: ShownCard,
  decision: StopVerdict,
  control: Pick<StopControlFacts, 'counts'>,
  leaseMs: number,
): Changes {
  const { card, now } = facts;
  const ended = endedOrders(facts, shown);
  // It is due again when the readings are compared: no such stop is taken before (orders.take).
  if (decision.act === 'none' && decision.why === 'unwatched' && decision.stop?.state === 'requested') {
    return { ...ended, stops: [...(ended.stops ?? []), { ...decision.stop, dueAt: now }] };
  }
  if (decision.act === 'none' && decision.why === 'pending' && decision.stop?.state === 'requested') {
    return { ...ended, stops: [...(ended.stops ?? []), lookedAt(facts, decision.stop)] };
  }
  if (decision.act === 'none' || card === null) return ended;
  const { act, stop, isNewStop } = decision;
  // In mode observe, a stop that was requested before stays requested and waits.
  if (act === 'observe' && stop !== null && !isNewStop) return ended;
  const lost = isNewStop ? lostCall(stop, card) : null;
  const changes = { ...ended, ...(lost === null ? {} : { audit: lost }) };
  const written = (next: StopOrder) => ({ ...changes, stops: [...(ended.stops ?? []), next] });
  if (act === 'wait') {
    const waits = stop !== null && isSameStop(stop, card) ? stop : judgedStop(facts, decision);
    const work = workSeen(waits, now, decision.forMs);
    return written({ ...waits, ...work, dueAt: nextLookAt(work, now) });
  }
  const next = { ...judgedStop(facts, decision), attempts: (stop?.attempts ?? 0) + 1 };
  if (act === 'observe') return written({ ...next, state: 'observed' });
  if (act === 'hold') return written({ ...next, state: 'held', heldBy: decision.heldBy });
  const claimedUntil = now + leaseMs;
  return {
    ...written({ ...next, claimedUntil, dueAt: claimedUntil, chargedAt: now }),
    counts: counted(
      takenBack(control.counts, isNewStop ? null : (stop?.chargedAt ?? null)),
      next.authority === null,
    ),
    // From here on, a card found stopped is the result of this stop.
    ...(card.stopped ? { card: { iccid: card.iccid, stopped: false } } : {}),
  };
}

/** Time of the next status call for a card whose vendor works on a call. */
function lookedAt({ stops, now }: CardOrders, stop: StopOrder): StopOrder {
  const { iccid } = stop;
  const work = stops.find((one) => one.iccid === iccid && isUnderWay(one, now)) ?? stop;
  return { ...stop, dueAt: nextLookAt(work, now) };
}

/** The stop after this decision: a continued one, or a new one. Its state is that of a call. */
function judgedStop(
  { usage, now }: CardOrders,
  { card, month, stop }: Exclude<StopVerdict, { act: 'none' }>,
): StopOrder {
  const { iccid, allowanceMb } = card;
  const ofMonth = usage?.month === month ? usage : null;
  const judged = {
    iccid,
    allowanceMb,
    usedMb: ofMonth?.usedMb ?? 0,
    readingMb: ofMonth?.lastReadingMb ?? null,
    state: 'requested',
    heldBy: null,
    dueAt: null,
    claimedUntil: null,
    chargedAt: null,
    completedAt: null,
    resumedAt: null,
    stopAgain: false,
  } as const;
  if (stop !== null && isSameStop(stop, card)) {
    // The vendor worked on its last call for the longest allowed time, without effect.
    const unconfirmed = stop.unconfirmed + Number(isOfCall(stop));
    const work = { pendingSince: unconfirmed > 0 ? stop.pendingSince : null, pendingUntil: null };
    return { ...stop, ...judged, ...work, unresolved: stop.claimedUntil !== null, unconfirmed };
  }
  const { version = null, attempts = 0 } = stop ?? {};
  return { ...BEGINNING, ...judged, month, version, attempts, requestedAt: now };
}

/**
 * A card was read, or changed: its stop is ordered, held or observed if the card is over its package and not exempt. An open stop
 * stays as it is.
 * @returns null: no stop of the card is wanted, or nothing about it is new.
 */
export function stopWanted(
  facts: CardOrders,
  control: StopControlFacts,
): { readonly decision: StopVerdict; readonly changes: Changes } | null {
  const { card, now } = facts;
  if (card === null || card.stopped || !isOver(card, facts.usage)) return null;
  // Ordered even if readings must be compared first.
  const decision = decideStop(facts, card, { ...control, watchedUntil: null });
  if (decision.act === 'none') return { decision, changes: endedOrders(facts, card) };
  if (decision.act !== 'call') return { decision, changes: stopDecided(facts, card, decision, control, 0) };
  const { stop, isNewStop } = decision;
  const isOpen = stop !== null && isSameStop(stop, card);
  if (isOpen && stop.dueAt !== null) return null;
  const lost = isNewStop ? lostCall(stop, card) : null;
  const ordered = isOpen ? { ...stop, dueAt: now } : { ...judgedStop(facts, decision), dueAt: now };
  return { decision, changes: { stops: [ordered], ...(lost === null ? {} : { audit: lost }) } };
}

/** A stop without any call. */
export const BEGINNING = {
  authority: null,
  orderedBy: null,
  reason: null,
  dueAt: null,
  unresolved: false,
  acknowledgedAt: null,
  unconfirmed: 0,
  lastError: null,
  resumeRun: null,
  ...NO_WORK,
} as const;

/** The call for the former SIM may have been made, and its effect is not checked any more. */
function lostCall(stop: StopOrder | null, { cardId }: CardFacts): AuditedChange | null {
  if (stop === null || stop.state !== 'requested' || stop.chargedAt === null) return null;
  const { iccid, usedMb, allowanceMb } = stop;
  return {
    action: 'card.stop',
    object: `card ${cardId}`,
    before: { stopped: false },
    after: { outcome: 'unknown', iccid, usedMb, allowanceMb, authority: 'over_package' },
  };
}

/**
 * Ends stops that wait for nothing: operators' orders for a former SIM of the card, and stops of a card that is not over any
 * more, or of a past month. One whose call may still take effect is only not called again.
 */
function endedOrders(facts: CardOrders, shown: ShownCard): Changes {
  const { card, now, month, stops } = facts;
  if (card === null) return {};
  const open = stops.filter((stop) => stop.state === 'requested' && !isClaimed(stop, now));
  const dismissed = open.filter(({ authority, iccid }) => authority !== null && iccid !== card.iccid);
  // The status was requested for another SIM: nothing is known about this one.
  const isAskedOf = isOfCard(card, shown);
  const isOrdered = open.some((stop) => stop.authority === 'operator' && stop.iccid === card.iccid);
  const isOpen = isOrdered || isOver(card, facts.usage);
  const ended = open.filter(
    (stop) =>
      stop.authority !== 'operator' &&
      isAskedOf &&
      !dismissed.includes(stop) &&
      (stop.month < month || (stop.month === month && !isOpen)),
  );
  const dropped = ended.filter((stop) => stop.authority === 'released' || isUncalled(stop));
  const parked = ended.filter((stop) => !dropped.includes(stop) && stop.dueAt !== null);
  const changed = [
    ...dismissed.map((stop) => dismissedFor(stop, OF_FORMER_ICCID)),
    ...parked.map((stop) => ({ ...stop, dueAt: null })),
  ];
  return {
    ...(changed.length === 0 ? {} : { stops: changed }),
    ...(dropped.length === 0 ? {} : { dropped }),
  };
}

function dismissedFor(stop: StopOrder, why: string): StopOrder {
  return { ...stop, state: 'dismissed', lastError: why, claimedUntil: null };
}

function takenBack(counts: StopCounts, chargedAt: number | null): StopCounts {
  return chargedAt === null ? counts : uncounted(counts, chargedAt);
}

/**
 * The gateway shows a SIM stopped. If a stop of ours was in progress, or takes effect after its resume, the stop is done and the
 * card is stopped. A card that has another SIM by now is not stopped: only the call for the former SIM is done. If the vendor
 * knows the card by another id by now, the status was not the card's.
 * @returns null: no stop of ours was in progress, or a call that resumes the card is, so that the card may run again.
 */
export function stopShown(
  facts: CardOrders,
  shown: ShownCard,
  control: Pick<StopControlFacts, 'counts'>,
): Changes | null {
  const { card } = facts;
  if (card !== null && card.iccid === shown.iccid && card.vendorId !== shown.vendorId) return null;
  return completed(facts, shown, control.counts) ?? reopened(facts, shown, control.counts);
}

function completed(facts: CardOrders, { iccid }: ShownCard, counts: StopCounts): Changes | null {
  const { card, now, month, usage } = facts;
  const isInMonth = (stop: StopOrder) =>
    stop.month === month ||
    // An order may be older than the month, and so may the outcome of a call that was made at the end of the month before.
    stop.authority !== null ||
    (stop.claimedUntil !== null && stop.month >= monthBefore(month));
  const open = (stop: StopOrder) => stop.state === 'requested' && stop.iccid === iccid && isInMonth(stop);
  const stop = facts.stops.find(open);
  if (stop === undefined) return null;
  if (stop.claimedUntil !== null && stop.chargedAt === null && stop.claimedUntil > now) return null;
  const stopped = card?.iccid === iccid && !card.stopped ? { card: { iccid, stopped: true } } : {};
  // Another system stopped the card.
  if (stop.authority === null && isUncalled(stop)) return { dropped: [stop], ...stopped };
  const { usedMb, allowanceMb, authority, orderedBy, reason } = stop;
  // The call had an effect, although it was refused, and is not counted yet.
  const isUncounted =
    stop.month === month && stop.unresolved && stop.chargedAt === null && stop.claimedUntil === null;
  return {
    stops: [{ ...stop, state: 'done', claimedUntil: null, completedAt: now }],
    ...(isUncounted ? { counts: counted(counts, false) } : {}),
    ...stopped,
    audit: {
      action: 'card.stop',
      object: `card ${card?.cardId}`,
      // `stopped` was also true before if the order cancelled a resume.
      before: { stopped: card?.stopped ?? false },
      after: {
        ...{ stopped: true, iccid, usedMb, allowanceMb },
        readingMb: usage?.lastReadingMb ?? null,
        previousReadingMb: usage?.previousReadingMb ?? null,
        ...{ authority: authority ?? 'over_package', orderedBy, reason },
      },
    },
  };
}

/**
 * A card that a run ended as running, with a stop that was never seen, is shown stopped: that is the stop's late effect. The card
 * waits in that run again, unless it waits in another one, and the stop is in progress again.
 */
function reopened(facts: CardOrders, shown: ShownCard, counts: StopCounts): Changes | null {
  const { now, resumes } = facts;
  const [newest] = facts.stops;
  const isLate =
    newest !== undefined &&
    newest.iccid === shown.iccid &&
    newest.state === 'resumed' &&
    newest.completedAt === null &&
    newest.resumedAt !== null &&
    newest.resumedAt > now - LATE_AT_MOST_MS;
  if (!isLate) return null;
  const stop: StopOrder = { ...newest, state: 'requested', resumedAt: null, claimedUntil: now };
  const stops = facts.stops.with(0, stop);
  const { stops: [done = stop] = [], ...others } = completed({ ...facts, stops }, shown, counts) ?? {};
  const ended = resumes.find(
    ({ runId, state }) => runId === newest.resumeRun && (state === 'resumed' || state === 'already_running'),
  );
  if (ended === undefined || resumes.some(({ state }) => state === 'waiting'))
    return { ...others, stops: [done] };
  const { runId, state, counted: isCounted } = ended;
  const again: CardResume = {
    ...ended,
    ...{ state: 'waiting', counted: false, endedAt: null, dueAt: now, unconfirmed: 0 },
  };
  const ofRun = { runId, state: state as 'resumed' | 'already_running' };
  return { ...others, stops: [done], resumes: [again], ...(isCounted ? { uncountedOfRun: ofRun } : {}) };
}

/** The stop that a caller has claimed; undefined: another caller holds the claim by now. */
function claimedStop({ stops }: CardOrders, month: string, attempt: number): StopOrder | undefined {
  return stops.find(
    (stop) => stop.month === month && stop.state === 'requested' && stop.attempts === attempt,
  );
}

/**
 * The gateway acknowledged the call and does not show the card stopped: no further call before a doubling pause, or before the
 * vendor's time is over. @param pendingForMs how long the vendor reports to work on the call; null: no report
 */
export function stopAcknowledged(
  facts: CardOrders,
  month: string,
  attempt: number,
  pendingForMs: number | null,
): Changes | null {
  const stop = claimedStop(facts, month, attempt);
  if (stop === undefined) return null;
  const { now } = facts;
  const { unconfirmed } = stop;
  const known = { ...stop, acknowledgedAt: now, unresolved: false };
  if (pendingForMs !== null) return { stops: [{ ...known, ...atWork(stop, now, pendingForMs) }] };
  const claimedUntil = now + pauseMs(unconfirmed);
  const pendingSince = stop.pendingSince ?? now;
  return {
    stops: [{ ...known, pendingSince, unconfirmed: unconfirmed + 1, claimedUntil, dueAt: claimedUntil }],
  };
}

/** The vendor works on the last call of an order: no further call is made meanwhile. */
export function atWork({ pendingSince }: VendorWork, now: number, forMs: number) {
  const work = workSeen({ pendingSince, pendingUntil: null }, now, forMs);
  return { ...work, claimedUntil: work.pendingUntil, dueAt: nextLookAt(work, now) };
}

export function pauseMs(unconfirmed: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(unconfirmed, 30));
}

/**
 * The call had no effect: the next may be made soon, and this one is not counted. @param isRefused the gateway refused the card
 */
export function stopAbandoned(
  facts: CardOrders,
  { counts }: Pick<StopControlFacts, 'counts'>,
  { month, attempt, error, isRefused }: { month: string; attempt: number; error: string; isRefused: boolean },
): Changes | null {
  const stop = claimedStop(facts, month, attempt);
  if (stop === undefined) return null;
  const dueAt = facts.now + (isRefused ? pauseMs(stop.attempts - 1) : SOON_MS);
  const changed = { claimedUntil: null, chargedAt: null, unresolved: isRefused, lastError: error, dueAt };
  return {
    stops: [{ ...stop, ...changed }],
    ...(stop.chargedAt === null ? {} : { counts: takenBack(counts, stop.chargedAt) }),
  };
}

/** An operator's order to stop one card, whatever it has used. */
interface OrderedStop {
  readonly by: Pick<Actor, 'name'>;
  readonly reason: string;
}

/**
 * An operator orders the stop of a card. A stop that is already done becomes the operator's: no run over stops resumes the card,
 * and a run that may hand it out later leaves it out. While a call of its resume may be in flight, the stop is claimed and not
 * charged: it is neither called nor done.
 * @returns null: no such card.
 */
export function stopOrdered(facts: CardOrders, { by, reason }: OrderedStop): Changes | null {
  const { card, now, usage, resumes } = facts;
  const waiting = resumes.filter(({ state }) => state === 'waiting');
  const former = resumes.filter((resume) => isFormerCall(resume, now));
  if (card === null) return null;
  const calls = [...former, ...waiting.filter((resume) => mayTakeEffect(resume, now))];
  const ends = calls.flatMap(({ claimedUntil }) => claimedUntil ?? []);
  const callEnds = ends.length === 0 ? null : Math.max(...ends);
  // An open order of an earlier month is continued.
  const month = orderOf(facts, card)?.month ?? facts.month;
  const stop = facts.stops.find((one) => one.month === month);
  const isRequested = stop?.state === 'requested';
  const claims = [callEnds, stop?.claimedUntil ?? null].flatMap((at) => at ?? []);
  const ordered: StopOrder = {
    ...BEGINNING,
    ...{ version: null, readingMb: null, attempts: 0, ...stop, month },
    ...{ iccid: card.iccid, usedMb: usage?.usedMb ?? 0, allowanceMb: card.allowanceMb },
    ...{ state: 'requested', authority: 'operator', orderedBy: by.name, reason, heldBy: null },
    ...{ requestedAt: now, dueAt: now, completedAt: null, resumedAt: null, stopAgain: false },
    claimedUntil: claims.length === 0 ? null : Math.max(...claims),
    chargedAt: isRequested && callEnds === null ? stop.chargedAt : null,
    acknowledgedAt: isRequested ? stop.acknowledgedAt : null,
    unconfirmed: isRequested ? stop.unconfirmed : 0,
    ...(isRequested && stop.iccid === card.iccid ? {} : NO_WORK),
  };
  const taken = { state: 'cancelled', endedAt: now, lastError: 'an operator ordered its stop' } as const;
  return { stops: [ordered], resumes: waiting.map((resume) => ({ ...resume, ...taken })) };
}

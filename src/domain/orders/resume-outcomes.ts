// The changes to the resume of a card that waits in a run: after a decision (decide.ts), and after the gateway's answer to a call
// or its status of the card. Each function takes the facts of the card and returns the rows to write, all of them or none. Pure.
import type { CardFacts, CardOrders, CardResume, Changes, ShownCard, StopOrder } from './card-orders.ts';
import { exceeds, isClaimed, isOfCard, type ResumeVerdict, UNCONFIRMED_AT_MOST } from './decide.ts';
import { atWork, BEGINNING, pauseMs, SOON_MS } from './stop-outcomes.ts';
import { isOfCall, isUnderWay, nextLookAt, workSeen } from './vendor-work.ts';

/** A resume fails after this many refused calls. */
const REFUSED_AT_MOST = 3;
/** Pause before a running card is checked again while a call to stop it may take effect. */
const SETTLING_AGAIN_MS = 15_000;

/** The rows of a decision about a resume. @param leaseMs how long the claim of a call lasts */
export function resumeDecided(facts: CardOrders, decision: ResumeVerdict, leaseMs: number): Changes {
  if (decision.act === 'nothing') return {};
  const { now, stops } = facts;
  const { resume } = decision;
  const written = (changed: Partial<CardResume>): Changes => ({ resumes: [{ ...resume, ...changed }] });
  // The vendor worked on its last call for the longest allowed time, without effect.
  const unconfirmed = resume.unconfirmed + Number(isOfCall(resume));
  switch (decision.act) {
    case 'call': {
      const claimedUntil = now + leaseMs;
      const claim = { unresolved: resume.claimedUntil !== null, claimedUntil, dueAt: claimedUntil };
      return written({ ...claim, attempts: resume.attempts + 1, unconfirmed, pendingUntil: null });
    }
    case 'give_up':
      return withoutEffect(facts, resume, true, {
        unconfirmed,
        lastError: STILL_STOPPED,
        claimedUntil: null,
      });
    case 'wait': {
      const work = workSeen(resume, now, decision.forMs);
      return written({ ...work, dueAt: nextLookAt(work, now) });
    }
    case 'none':
      if (decision.why === 'pending') return written({ dueAt: nextLookAt(resume, now) });
      if (decision.why !== 'settling') return {};
      return written({ dueAt: settlingLookAt(resume, stops, now) });
  }
}

const STILL_STOPPED = 'acknowledged, and the card is still stopped';

/** A stop that the vendor works on may show minutes later. */
function settlingLookAt({ dueAt }: CardResume, stops: readonly StopOrder[], now: number): number {
  const work = stops.find((stop) => isClaimed(stop, now) && isUnderWay(stop, now));
  return work === undefined ? Math.min(dueAt, now + SETTLING_AGAIN_MS) : nextLookAt(work, now);
}

/**
 * The gateway shows a card of a run running: the card's wait ends, and it is not stopped any more. Its stop is resumed. A card
 * that is over its package without a stop gets a resumed one, or it would be stopped in the next moment; a card whose stop was
 * held, observed, released or ordered before the run is spared.
 * @returns null when the card does not wait in the run any more, or has another SIM.
 */
export function runningShown(facts: CardOrders, shown: ShownCard, runId: string): Changes | null {
  const { card, now } = facts;
  const resume = facts.resumes.find((one) => one.runId === runId && isOpen(one));
  if (resume === undefined || card === null || !isOfCard(card, shown)) return null;
  const { run } = resume;
  // A claim that was not given back is a call that may have done it.
  const isCalled = resume.claimedUntil !== null || resume.unconfirmed > 0;
  const state = isCalled ? 'resumed' : 'already_running';
  const ended: CardResume = { ...resume, state, claimedUntil: null, endedAt: now, counted: false };
  const resumed = resumedStops(facts, resume);
  const spared = run.isOfMonth && !isCalled ? [] : sparedStops(facts, card, resume, resumed);
  const last = resumed[0];
  return {
    resumes: [ended],
    stops: [...resumed, ...spared, ...awaitedStops(facts, resume)],
    ...(card.stopped ? { card: { iccid: card.iccid, stopped: false } } : {}),
    audit: {
      action: 'card.resume',
      object: `card ${card.cardId}`,
      before: { stopped: isCalled || card.stopped },
      after: {
        ...{ stopped: false, iccid: card.iccid, runId, reason: run.reason, outcome: state },
        ...{ usedMb: last?.usedMb ?? null, allowanceMb: last?.allowanceMb ?? null },
        ...(run.stopAgain ? { stopAgain: true } : {}),
      },
      by: { name: run.createdBy, role: run.createdRole },
    },
  };
}

/** It waits, or its call may have been made before it was removed from its run. */
function isOpen({ state, claimedUntil }: CardResume): boolean {
  return state === 'waiting' || (state === 'cancelled' && claimedUntil !== null);
}

/** The stops that the resume ends: the newest completed one, and those that were requested before the run. */
function resumedStops({ stops, now }: CardOrders, { run, runId }: CardResume): StopOrder[] {
  return stops.flatMap((stop, i) => {
    const isMade = i === 0 && (stop.state === 'done' || stop.state === 'resumed');
    const isBefore = stop.state === 'requested' && stop.requestedAt < run.createdAt;
    return isMade || isBefore ? [asResumed(stop, now, run.stopAgain, runId)] : [];
  });
}

function asResumed(stop: StopOrder, now: number, stopAgain: boolean, runId: string): StopOrder {
  return { ...stop, state: 'resumed', resumedAt: now, claimedUntil: null, stopAgain, resumeRun: runId };
}

/** It counts as seen, so that it is not mistaken for a late one. */
function sparedStops(
  { stops, newestUsage, now }: CardOrders,
  card: CardFacts,
  { run, runId }: CardResume,
  resumed: readonly StopOrder[],
): StopOrder[] {
  if (newestUsage === null || !exceeds(card, newestUsage) || newestUsage.closed) return [];
  const { month, usedMb, lastReadingMb } = newestUsage;
  if (resumed.some((stop) => stop.month === month)) return [];
  const stop = stops.find((one) => one.month === month) ?? {
    ...BEGINNING,
    ...{ month, version: null, attempts: 0, requestedAt: run.createdAt, claimedUntil: null, chargedAt: null },
    state: 'held' as const,
  };
  if (!['held', 'observed', 'dismissed'].includes(stop.state)) return [];
  const { iccid, allowanceMb } = card;
  const judged = {
    iccid,
    usedMb,
    allowanceMb,
    readingMb: lastReadingMb,
    heldBy: null,
    completedAt: run.createdAt,
  };
  return [asResumed({ ...stop, ...judged, resumedAt: now } as StopOrder, now, run.stopAgain, runId)];
}

/** A stop that was ordered meanwhile no longer waits for this call, only for calls of other runs. */
function awaitedStops({ stops, resumes, now }: CardOrders, resume: CardResume): StopOrder[] {
  const waitsStill = resumes.some(
    ({ runId, claimedUntil }) => runId !== resume.runId && claimedUntil !== null && claimedUntil > now,
  );
  if (waitsStill) return [];
  const isAwaited = ({ state, claimedUntil, chargedAt, requestedAt }: StopOrder) =>
    state === 'requested' &&
    claimedUntil !== null &&
    chargedAt === null &&
    requestedAt >= resume.run.createdAt;
  return stops.filter(isAwaited).map((stop) => ({ ...stop, claimedUntil: null, dueAt: now }));
}

/** The resume that a caller has claimed, even if it was removed from its run meanwhile. */
function claimedResume({ resumes, now }: CardOrders, runId: string, attempt: number): CardResume | undefined {
  return resumes.find(
    (one) =>
      one.runId === runId &&
      one.attempts === attempt &&
      (one.state === 'waiting' ||
        (one.state === 'cancelled' && one.claimedUntil !== null && one.claimedUntil > now)),
  );
}

/**
 * The gateway acknowledged the call and does not show the card running: a doubling pause, and failure after too many such calls;
 * or the vendor works on it. @param pendingForMs as for a stop
 */
export function resumeAcknowledged(
  facts: CardOrders,
  runId: string,
  attempt: number,
  pendingForMs: number | null,
): Changes | null {
  const resume = claimedResume(facts, runId, attempt);
  if (resume === undefined) return null;
  const { now } = facts;
  if (pendingForMs !== null)
    return { resumes: [{ ...resume, unresolved: false, ...atWork(resume, now, pendingForMs) }] };
  const unconfirmed = resume.unconfirmed + 1;
  const claimedUntil = now + pauseMs(resume.unconfirmed);
  return withoutEffect(facts, resume, unconfirmed >= UNCONFIRMED_AT_MOST, {
    unconfirmed,
    lastError: STILL_STOPPED,
    pendingSince: resume.pendingSince ?? now,
    ...{ claimedUntil, dueAt: claimedUntil },
  });
}

/** The call certainly had no effect. @param isRefused the gateway refused the card, which counts */
export function resumeAbandoned(
  facts: CardOrders,
  { runId, attempt, error, isRefused }: { runId: string; attempt: number; error: string; isRefused: boolean },
): Changes | null {
  const resume = claimedResume(facts, runId, attempt);
  if (resume === undefined) return null;
  const refused = resume.refused + Number(isRefused);
  const dueAt = facts.now + (isRefused ? pauseMs(resume.refused) : SOON_MS);
  const changed = { refused, lastError: error, claimedUntil: null, dueAt };
  return withoutEffect(facts, resume, isRefused && refused >= REFUSED_AT_MOST, changed);
}

function withoutEffect(
  facts: CardOrders,
  resume: CardResume,
  isLast: boolean,
  changed: Partial<CardResume>,
): Changes {
  const gaveUp = isLast && resume.state === 'waiting';
  const ended = gaveUp ? ({ state: 'failed', endedAt: facts.now } as const) : {};
  return {
    resumes: [{ ...resume, unresolved: false, ...changed, ...ended }],
    stops: resume.state === 'cancelled' ? awaitedStops(facts, resume) : [],
  };
}

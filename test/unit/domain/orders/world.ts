// A small world of orders for enumeration.test.ts: two cards, their SIMs, a gateway, and what may happen to them. It keeps facts as the
// record store does, in plain data, and decides by src/domain/orders only. What the gateway really did is counted apart.
import type {
  CardOrders,
  CardResume,
  Changes,
  ShownCard,
  StopControlFacts,
  StopOrder,
  UsageFacts,
} from '../../../../src/domain/orders/card-orders.ts';
import {
  decideResume,
  decideStop,
  isOver,
  isUnwanted,
  runsOver,
} from '../../../../src/domain/orders/decide.ts';
import {
  resumeAbandoned,
  resumeAcknowledged,
  resumeDecided,
  runningShown,
} from '../../../../src/domain/orders/resume-outcomes.ts';
import { MINUTE_SLOTS, movedOn, QUARTER_SLOTS } from '../../../../src/domain/orders/stop-budget.ts';
import {
  stopAbandoned,
  stopAcknowledged,
  stopDecided,
  stopOrdered,
  stopShown,
  stopWanted,
} from '../../../../src/domain/orders/stop-outcomes.ts';

export const LEASE_MS = 60_000;
/** A call has ended by then: half a lease after its claim. */
export const CALL_MS = LEASE_MS / 2;
/** So long the vendor may work on a call, as the profile says. */
const WORK_MS = 600_000;
const HOUR_MS = 3_600_000;
const BUDGET = 1;
/** Shortly before a month begins, so that calls outlive the one before. */
const BEGIN = Date.parse('2026-11-30T23:59:50Z');
const SMALL_MB = 1_000;
const LARGE_MB = 3_000;

/** A call that was sent and whose outcome nobody has noted yet. */
export interface Call {
  readonly kind: 'stop' | 'start';
  readonly card: number;
  readonly iccid: string;
  readonly sentAt: number;
  readonly byOperator: boolean;
  readonly isUnresolved: boolean;
  readonly month: string;
  readonly attempt: number;
  readonly runId: string;
  /** It has had its effect, and its answer is still to come. */
  readonly isEffective: boolean;
}

interface WorldCard {
  readonly facts: Omit<CardOrders, 'now' | 'month' | 'usage' | 'resumes'>;
  readonly resumes: readonly CardResume[];
  /** The status that was asked for an order, whose call waits; null: none does. */
  readonly asked: {
    readonly kind: Call['kind'];
    readonly iccid: string;
    readonly isCut: boolean;
    readonly isPending: boolean;
    readonly at: number;
  } | null;
}

/** The vendor works on a call, as it has answered. */
type Job = Pick<Call, 'kind' | 'iccid' | 'sentAt'>;

/** Plain data; an event makes another one. */
export interface World {
  readonly now: number;
  readonly month: string;
  readonly cards: readonly WorldCard[];
  readonly mode: 'enforce' | 'observe';
  /** Since when the readings of the fleet jump, and when the last jump was over; null: none. */
  readonly jump: Pick<StopControlFacts['jump'], 'since' | 'overAt'>;
  readonly counts: StopControlFacts['counts'];
  /** ICCIDs of the SIMs that the gateway has stopped. */
  readonly cut: readonly string[];
  readonly calls: readonly Call[];
  /** Answers of calls that the worker never got, with an effect that comes later. */
  readonly late: readonly Job[];
  readonly jobs: readonly Job[];
  readonly versions: number;
  /** Own calls to stop that had an effect or may have one, for the budget: when they were sent. */
  readonly ownStops: readonly number[];
  /** SIM, allowance and month that a resume spared: no call of cardpoll's own may follow for them. */
  readonly spared: readonly string[];
  /** What went wrong in the last event; empty in a world that keeps its promises. */
  readonly broken: readonly string[];
}

const NO_COUNTS = {
  unwatchedLeft: 0,
  minute: Math.floor(BEGIN / 60_000),
  byMinute: Array<number>(MINUTE_SLOTS).fill(0),
  byQuarter: Array<number>(QUARTER_SLOTS).fill(0),
};

function usageOf(month: string, usedMb: number, readAt: number, iccid: string): UsageFacts {
  const flags = { isSuspected: false, closed: false };
  return { month, usedMb, ...flags, readAt, iccid, lastReadingMb: usedMb, previousReadingMb: null };
}

/** @param count of cards, which are within their packages and run. */
export function firstWorld(count: number): World {
  const cards = Array.from({ length: count }, (_, i): WorldCard => {
    const iccid = `sim ${i}`;
    const card = {
      ...{ cardId: i, carrierId: 7, iccid, vendorId: null, allowanceMb: SMALL_MB, stopped: false },
      ...{ iccidChangedAt: null, allowanceChangedAt: null },
    };
    const newestUsage = usageOf('2026-11', 10, BEGIN - 1, iccid);
    return { facts: { card, newestUsage, polledAt: null, stops: [] }, resumes: [], asked: null };
  });
  return {
    ...{ now: BEGIN, month: '2026-11', cards, mode: 'enforce', counts: NO_COUNTS, cut: [], calls: [] },
    jump: { since: null, overAt: null },
    ...{ late: [], jobs: [], versions: 0, ownStops: [], spared: [], broken: [] },
  };
}

function factsOf({ now, month }: World, { facts, resumes }: WorldCard): CardOrders {
  const { newestUsage } = facts;
  return { ...facts, now, month, usage: newestUsage?.month === month ? newestUsage : null, resumes };
}

function controlOf({ mode, counts, now, jump: { since, overAt } }: World): StopControlFacts {
  const jump = { since, carrierId: null, acceptedAt: null, overAt, doubtfulUntil: null };
  return {
    mode,
    counts: movedOn(counts, now),
    maxPerHour: BUDGET,
    maxPerDay: null,
    watchedUntil: null,
    jump,
  };
}

/** As the record store saves them. */
function saved(world: World, index: number, changes: Changes | null): World {
  if (changes === null) return world;
  const { stops = [], dropped = [], resumes = [], card, counts = world.counts } = changes;
  let { versions } = world;
  const versioned = <Row extends { version: string | null }>(row: Row): Row => {
    versions += 1;
    return { ...row, version: String(versions) };
  };
  const before = world.cards[index] as WorldCard;
  const gone = [...stops, ...dropped].map(({ month }) => month);
  if (new Set(gone).size < gone.length) throw new Error(`a stop of card ${index} is written twice`);
  const kept = before.facts.stops.filter(({ month }) => !gone.includes(month));
  const after = [...kept, ...stops.map(versioned)].sort((a, b) => b.month.localeCompare(a.month));
  const runs = resumes.map(({ runId }) => runId);
  const others = before.resumes.filter(({ runId }) => !runs.includes(runId));
  const known = before.facts.card;
  const next: WorldCard = {
    facts: {
      ...before.facts,
      stops: after,
      card: known !== null && card !== undefined ? { ...known, stopped: card.stopped } : known,
    },
    resumes: [...others, ...resumes.map(versioned)],
    asked: before.asked,
  };
  return { ...world, counts, versions, cards: world.cards.with(index, next) };
}

function withFacts(world: World, index: number, changed: Partial<WorldCard['facts']>): World {
  const before = world.cards[index] as WorldCard;
  return { ...world, cards: world.cards.with(index, { ...before, facts: { ...before.facts, ...changed } }) };
}

/** Something happens to one card; null: it cannot happen now. */
type CardEvent = (world: World, index: number) => World | null;
/** Something happens to the fleet. */
type FleetEvent = (world: World) => World | null;

/** Two things never happen in the same millisecond. */
function later(world: World): World {
  return { ...world, now: world.now + 1, broken: [] };
}

/** At once after the reading is written. */
function wanted(world: World, index: number): World {
  const facts = factsOf(world, world.cards[index] as WorldCard);
  return saved(world, index, stopWanted(facts, controlOf(world))?.changes ?? null);
}

function reads(usedMb: number): CardEvent {
  return (world, index) => {
    const { card } = (world.cards[index] as WorldCard).facts;
    if (card === null) return null;
    const newestUsage = usageOf(world.month, usedMb, world.now, card.iccid);
    return wanted(withFacts(world, index, { newestUsage, polledAt: world.now }), index);
  };
}

function isAllowed(allowanceMb: number): CardEvent {
  return (world, index) => {
    const { card } = (world.cards[index] as WorldCard).facts;
    if (card === null || card.allowanceMb === allowanceMb) return null;
    return withFacts(world, index, { card: { ...card, allowanceMb, allowanceChangedAt: world.now } });
  };
}

/** The card gets a SIM that runs and was never used. */
const getsAnotherSim: CardEvent = (world, index) => {
  const { card } = (world.cards[index] as WorldCard).facts;
  if (card === null || card.iccid.endsWith('b')) return null;
  return withFacts(world, index, { card: { ...card, iccid: `${card.iccid}b`, iccidChangedAt: world.now } });
};

/** Its order is taken, and waits for its call after its status was asked. */
const isAskedFor: CardEvent = (world, index) => {
  const kind = dueKind(world, index);
  const { asked: before, facts } = world.cards[index] as WorldCard;
  if (kind === null || before !== null || facts.card === null) return null;
  const { iccid } = facts.card;
  const asked = { kind, iccid, isCut: world.cut.includes(iccid), isPending: false, at: world.now };
  const next = taken(world, index);
  return { ...next, cards: next.cards.with(index, { ...(next.cards[index] as WorldCard), asked }) };
};

/** The kind of an order of the card that is due. */
function dueKind(world: World, index: number): Call['kind'] | null {
  const { facts, resumes } = world.cards[index] as WorldCard;
  const isDue = ({ dueAt }: { readonly dueAt: number | null }) => dueAt !== null && dueAt <= world.now;
  if (facts.card === null) return null;
  if (resumes.some((resume) => resume.state === 'waiting' && isDue(resume))) return 'start';
  const stops = facts.stops.filter((stop) => stop.state === 'requested' && isDue(stop));
  return world.mode === 'enforce' && stops.length > 0 ? 'stop' : null;
}

/** No other worker takes the orders of the card within the lease. */
function taken(world: World, index: number): World {
  const { facts, resumes } = world.cards[index] as WorldCard;
  const later = <T extends { readonly state: string; readonly dueAt: number | null }>(rows: readonly T[]) =>
    rows
      .filter(
        ({ state, dueAt }) =>
          ['requested', 'waiting'].includes(state) && dueAt !== null && dueAt <= world.now,
      )
      .map((row) => ({ ...row, dueAt: world.now + LEASE_MS }));
  return saved(world, index, { stops: later(facts.stops), resumes: later(resumes) });
}

/** A call is made within the lease. */
const isSameStop: CardEvent = (world, index) => {
  const { asked, ...before } = world.cards[index] as WorldCard;
  if (asked === null) return null;
  const next = { ...world, cards: world.cards.with(index, { ...before, asked: null }) };
  return world.now - asked.at < CALL_MS ? judged(next, index, asked) : next;
};

/** A poll: what the gateway shows is recorded, and the stop of a running card that is over its package is ordered. */
const isPolled: CardEvent = (world, index) => {
  const facts = factsOf(world, world.cards[index] as WorldCard);
  const { card } = facts;
  if (card === null) return null;
  const { iccid } = card;
  const sim = { iccid, vendorId: null };
  if (!world.cut.includes(iccid)) return wanted(world, index);
  return saved(world, index, stopShown(facts, sim, controlOf(world)));
};

/** An order of the card is taken: the status first, then its call. The answers of calls are events of their own. */
const isTaken: CardEvent = (world, index) => isTakenAnd(world, index, false);
/** The same, and the gateway shows that it works on the card, which is neither stopped nor runs. */
const showsPending: CardEvent = (world, index) => isTakenAnd(world, index, true);

function isTakenAnd(world: World, index: number, isPending: boolean): World | null {
  const kind = dueKind(world, index);
  const { card } = (world.cards[index] as WorldCard).facts;
  if (kind === null || card === null) return null;
  const { iccid } = card;
  return judged(taken(world, index), index, { kind, iccid, isCut: world.cut.includes(iccid), isPending });
}

interface Shown {
  readonly kind: Call['kind'];
  readonly iccid: string;
  readonly isCut: boolean;
  readonly isPending: boolean;
}

function judged(world: World, index: number, { kind, iccid, isCut: isOff, isPending }: Shown): World {
  const sim = { iccid, vendorId: null, pendingForMs: isPending ? WORK_MS : null };
  const isCut = isOff && !isPending;
  const facts = factsOf(world, world.cards[index] as WorldCard);
  const next = isCut ? saved(world, index, stopShown(facts, sim, controlOf(world))) : world;
  if (kind === 'stop') return isCut ? next : stopping(next, index, sim);
  const present = factsOf(next, next.cards[index] as WorldCard);
  const resume = decideResume(present, sim, isCut);
  const after = saved(next, index, resumeDecided(present, resume, LEASE_MS));
  if (resume.act === 'call') {
    const called = (after.cards[index] as WorldCard).resumes.find(
      ({ runId }) => runId === resume.resume.runId,
    );
    const { attempts: attempt, unresolved: isUnresolved, runId } = called as CardResume;
    return sent(after, { kind: 'start', card: index, iccid, attempt, runId, isUnresolved, byOperator: true });
  }
  return resume.act === 'none' && resume.why === 'running'
    ? running(after, index, iccid, resume.resume.runId)
    : after;
}

function running(world: World, index: number, iccid: string, runId: string): World {
  const facts = factsOf(world, world.cards[index] as WorldCard);
  const { card } = facts;
  if (card === null) return world;
  const changes = runningShown(facts, { iccid, vendorId: null }, runId);
  const [{ stopAgain } = { stopAgain: true }] = (changes?.stops ?? []).filter(
    ({ state }) => state === 'resumed',
  );
  const isSpared = changes !== null && !stopAgain && isOver(card, facts.newestUsage);
  const month = facts.newestUsage?.month ?? world.month;
  const spared = isSpared ? [...world.spared, sparedKey(card, month)] : world.spared;
  return saved({ ...world, spared }, index, changes);
}

function sparedKey({ iccid, allowanceMb }: { iccid: string; allowanceMb: number | null }, month: string) {
  return `${iccid} ${allowanceMb} ${month}`;
}

function stopping(world: World, index: number, sim: ShownCard): World {
  const facts = factsOf(world, world.cards[index] as WorldCard);
  const { iccid } = sim;
  const control = controlOf(world);
  const decision = decideStop(facts, sim, control);
  const changes = stopDecided(facts, sim, decision, control, LEASE_MS);
  const next = saved(world, index, changes);
  if (decision.act !== 'call') return next;
  const stop = changes.stops?.find(({ month }) => month === decision.month) as StopOrder;
  const { month, attempts: attempt, unresolved: isUnresolved, authority } = stop;
  const isOwn = authority === null;
  const broken = [
    ...(isOwn && isOfOldReading(facts, decision.stop) ? [`stopped by an old reading: ${iccid}`] : []),
    ...(world.mode === 'observe' ? [`stopped while stops are only observed: ${iccid}`] : []),
    ...(isOwn && world.jump.since !== null ? [`stopped while the readings jump: ${iccid}`] : []),
    ...(facts.resumes.some(({ state }) => state === 'waiting')
      ? [`stopped although an operator ordered later that it runs: ${iccid}`]
      : []),
  ];
  return sent(
    { ...next, broken },
    {
      ...{ kind: 'stop', card: index, iccid, month, attempt, isUnresolved, byOperator: authority !== null },
    },
  );
}

/** After a stop that is over, a reading decides only if it was taken after the resume, and after the card got another SIM or package. */
function isOfOldReading({ card, usage, polledAt }: CardOrders, before: StopOrder | null): boolean {
  if (card === null || before === null || !['done', 'resumed', 'dismissed'].includes(before.state))
    return false;
  const { iccidChangedAt, allowanceChangedAt } = card;
  const readAt = Math.max(usage?.readAt ?? 0, polledAt ?? 0);
  return readAt <= Math.max(iccidChangedAt ?? 0, allowanceChangedAt ?? 0, before.resumedAt ?? 0);
}

/** Checks the promises about calls. */
function sent(
  world: World,
  call: Partial<Call> & Pick<Call, 'kind' | 'card' | 'iccid' | 'byOperator'>,
): World {
  const { now, cards, calls, late, jobs, month } = world;
  const { card } = (cards[call.card] as WorldCard).facts;
  if (card === null) throw new Error('a call for no card');
  const made: Call = {
    ...{ month, attempt: 0, runId: '', isUnresolved: false, sentAt: now, isEffective: false },
    ...call,
  };
  const isOwn = made.kind === 'stop' && !made.byOperator;
  // A call that went on is counted once, by its last time.
  const ownStops = isOwn ? [...world.ownStops.filter((at) => at > now - HOUR_MS), now] : world.ownStops;
  const broken = [
    ...world.broken,
    ...(card.iccid === made.iccid ? [] : [`a call for ${made.iccid}, which the card has no more`]),
    ...(calls.some(
      ({ iccid, sentAt, isEffective }) => iccid === made.iccid && !isEffective && now - sentAt < CALL_MS,
    )
      ? [`two calls at once for ${made.iccid}`]
      : []),
    ...(late.some(({ iccid, sentAt }) => iccid === made.iccid && now - sentAt < CALL_MS)
      ? [`a call while another one may take effect for ${made.iccid}`]
      : []),
    ...(jobs.some(({ iccid, sentAt }) => iccid === made.iccid && now - sentAt < WORK_MS)
      ? [`a call while the vendor works on another one for ${made.iccid}`]
      : []),
    ...(isOwn && world.spared.includes(sparedKey(card, month))
      ? [`stopped after its resume: ${card.iccid}`]
      : []),
    ...(isOwn && !made.isUnresolved && new Set(ownStops).size > BUDGET + repeated(world, made)
      ? ['above the budget']
      : []),
  ];
  return { ...world, calls: [...calls, made], ownStops, broken };
}

/** Calls of the same stop within the hour: only the last one counts. */
function repeated({ ownStops, now }: World, { attempt }: Call): number {
  return attempt > 1 ? ownStops.filter((at) => at > now - HOUR_MS).length : 0;
}

/** What the gateway did with the first call for a card, and what the worker learns of it. */
type Answer = (typeof ANSWERS)[number];

function isAnswered(answer: Answer): CardEvent {
  return (world, index) => {
    const call = world.calls.find(({ card }) => card === index);
    if (call === undefined || (call.isEffective && !ANSWERS_AFTER_EFFECT.has(answer))) return null;
    const next = { ...world, calls: world.calls.filter((one) => one !== call) };
    const isEffective = answer === 'done' || answer === 'lost, and done';
    const after = isEffective ? effective(next, call) : next;
    if (answer === 'lost, and done later') {
      const { kind, iccid, sentAt } = call;
      return { ...next, late: [...next.late, { kind, iccid, sentAt }] };
    }
    if (answer === 'pending') {
      const { kind, iccid } = call;
      const job = { kind, iccid, sentAt: world.now };
      return noted({ ...next, jobs: [...next.jobs, job] }, call, answer);
    }
    return answer.startsWith('lost') ? after : noted(after, call, answer);
  };
}

const ANSWERS_AFTER_EFFECT: ReadonlySet<Answer> = new Set(['done', 'acknowledged', 'lost']);

/** The gateway shows the effect of a call before it answers the call. */
const takesEffect: CardEvent = (world, index) => {
  const at = world.calls.findIndex(({ card, isEffective }) => card === index && !isEffective);
  const call = world.calls[at];
  if (call === undefined) return null;
  return effective({ ...world, calls: world.calls.with(at, { ...call, isEffective: true }) }, call);
};

function effective(world: World, { kind, iccid }: Pick<Call, 'kind' | 'iccid'>): World {
  const others = world.cut.filter((one) => one !== iccid);
  return { ...world, cut: kind === 'stop' ? [...others, iccid] : others };
}

function noted(world: World, call: Call, answer: Answer): World {
  const { card: index, month, attempt, runId, kind, iccid } = call;
  const facts = factsOf(world, world.cards[index] as WorldCard);
  const sim = { iccid, vendorId: null };
  const isRefused = answer === 'refused';
  const failure = { error: 'refused', isRefused };
  const pendingForMs = answer === 'pending' ? WORK_MS : null;
  if (kind === 'start') {
    if (answer === 'done') return running(world, index, iccid, runId);
    const changes = isRefused
      ? resumeAbandoned(facts, { runId, attempt, ...failure })
      : resumeAcknowledged(facts, runId, attempt, pendingForMs);
    return saved(world, index, changes);
  }
  if (answer === 'done') return saved(world, index, stopShown(facts, sim, controlOf(world)));
  const ownStops = isRefused ? world.ownStops.filter((at) => at !== call.sentAt) : world.ownStops;
  const changes = isRefused
    ? stopAbandoned(facts, controlOf(world), { month, attempt, ...failure })
    : stopAcknowledged(facts, month, attempt, pendingForMs);
  return saved({ ...world, ownStops }, index, changes);
}

/** Effects come within half a lease of their call. */
const takesEffectLate: FleetEvent = (world) => {
  const [first, ...others] = world.late;
  if (first === undefined) return null;
  return first.sentAt + CALL_MS < world.now
    ? { ...world, late: others }
    : effective({ ...world, late: others }, first);
};

/** The vendor is done with the first call that it works on, in time: its effect shows. Nothing ever comes of the others. */
const jobEnds: FleetEvent = (world) => {
  const [first, ...jobs] = world.jobs;
  if (first === undefined) return null;
  return first.sentAt + WORK_MS < world.now ? { ...world, jobs } : effective({ ...world, jobs }, first);
};

const isOrderedStopped: CardEvent = (world, index) => {
  const facts = factsOf(world, world.cards[index] as WorldCard);
  const { card } = facts;
  const order = { by: { name: 'alice' }, reason: 'stolen' };
  const changes = stopOrdered(facts, order);
  if (changes === null || card === null) return null;
  const spared = world.spared.filter((key) => key !== sparedKey(card, world.month));
  return saved({ ...world, spared }, index, changes);
};

function isOrderedResumed(stopAgain: boolean): CardEvent {
  return (world, index) => resumeOrdered(world, index, stopAgain);
}

function resumeOrdered(world: World, index: number, stopAgain: boolean): World | null {
  const { resumes } = world.cards[index] as WorldCard;
  if (resumes.some(({ state }) => state === 'waiting')) return null;
  const resume: CardResume = {
    ...{
      runId: `run ${world.versions}`,
      version: 'new',
      state: 'waiting',
      dueAt: world.now,
      claimedUntil: null,
    },
    ...{ unresolved: false, attempts: 0, unconfirmed: 0, refused: 0, lastError: null, endedAt: null },
    ...{ counted: false, pendingSince: null, pendingUntil: null },
    run: {
      ...{ createdAt: world.now, createdBy: 'alice', createdRole: 'admin', reason: 'paid' },
      ...{ stopAgain, isOfMonth: false },
    },
  };
  return saved(world, index, { resumes: [resume] });
}

/** As the record store does for many stops at a time. */
function heldBecomes(state: 'requested' | 'dismissed'): CardEvent {
  return (world, index) => {
    const { stops } = (world.cards[index] as WorldCard).facts;
    const held = stops.filter((stop) => stop.state === 'held');
    if (held.length === 0) return null;
    const released = { authority: 'released', requestedAt: world.now, dueAt: world.now } as const;
    const decided = { state, heldBy: null, orderedBy: 'alice', ...(state === 'requested' ? released : {}) };
    return saved(world, index, { stops: held.map((stop) => ({ ...stop, ...decided })) });
  };
}

function passes(ms: number): FleetEvent {
  return (world) => ({ ...world, now: world.now + ms });
}

const jumps: FleetEvent = (world) =>
  world.jump.since === null ? { ...world, jump: { since: world.now, overAt: null } } : null;
const jumpEnds: FleetEvent = (world) =>
  world.jump.since === null ? null : { ...world, jump: { since: null, overAt: world.now } };

function isSet(mode: World['mode']): FleetEvent {
  return (world) => (world.mode === mode ? null : { ...world, mode });
}

const monthTurns: FleetEvent = (world) => {
  if (world.month !== '2026-11') return null;
  const now = Date.parse('2026-12-01T00:00:00Z');
  return { ...world, month: '2026-12', now: Math.max(now, world.now) };
};

const ANSWERS = [
  ...([
    'done',
    'acknowledged',
    'pending',
    'refused',
    'lost',
    'lost, and done',
    'lost, and done later',
  ] as const),
] as const;

const CARD_EVENTS: Readonly<Record<string, CardEvent>> = {
  'is read over the small package': reads(1_500),
  'is read over both packages': reads(3_500),
  'is read within its package': reads(20),
  'gets the large package': isAllowed(LARGE_MB),
  'gets the small package': isAllowed(SMALL_MB),
  'gets another SIM': getsAnotherSim,
  'is polled': isPolled,
  'has its order taken': isTaken,
  'has its order taken, and shows pending': showsPending,
  'has its order taken, and its status asked': isAskedFor,
  'has the call of its order made': isSameStop,
  ...Object.fromEntries(ANSWERS.map((answer) => [`call is ${answer}`, isAnswered(answer)])),
  'call takes effect before its answer': takesEffect,
  'is ordered stopped': isOrderedStopped,
  'is ordered resumed': isOrderedResumed(false),
  'is ordered resumed, and may be stopped again': isOrderedResumed(true),
  'has its held stop released': heldBecomes('requested'),
  'has its held stop dismissed': heldBecomes('dismissed'),
};

const FLEET_EVENTS: Readonly<Record<string, FleetEvent>> = {
  'a late effect comes': takesEffectLate,
  'the vendor is done': jobEnds,
  'a lease passes': passes(LEASE_MS + 1),
  'an hour passes': passes(HOUR_MS + 60_000),
  'the mode is observe': isSet('observe'),
  'the mode is enforce': isSet('enforce'),
  'the readings jump': jumps,
  'the jump is over': jumpEnds,
  'the month turns': monthTurns,
};

/** @returns the world after these events of its first card. */
export function after(world: World, ...events: readonly string[]): World {
  return events.reduce((present, name) => {
    const next = [...following(present)].find(([event]) => event === name || event === `card 0 ${name}`);
    if (next === undefined) throw new Error(`'${name}' cannot happen`);
    return next[1];
  }, world);
}

/** Everything that may happen next, by its words. */
export function* following(world: World): Generator<readonly [event: string, next: World]> {
  const present = later(world);
  for (const [name, event] of Object.entries(FLEET_EVENTS)) {
    const next = event(present);
    if (next !== null) yield [name, next];
  }
  for (const [name, event] of Object.entries(CARD_EVENTS)) {
    for (let i = 0; i < world.cards.length; i += 1) {
      const next = event(present, i);
      if (next !== null) yield [`card ${i} ${name}`, next];
    }
  }
}

/** Its usage is as before, or begins in a month that has begun. */
function isReadAgain(world: World, index: number): World {
  const { card, newestUsage } = (world.cards[index] as WorldCard).facts;
  const begins = card !== null && newestUsage?.month !== world.month;
  return withFacts(world, index, {
    polledAt: world.now,
    ...(begins ? { newestUsage: usageOf(world.month, 0, world.now, card.iccid) } : {}),
  });
}

/** As the leader does every ten seconds. */
function isLookedAt(world: World, index: number): World {
  const facts = factsOf(world, world.cards[index] as WorldCard);
  return saved(world, index, { dropped: facts.stops.filter((stop) => isUnwanted(stop, facts)) });
}

/** Whatever happened: the gateway answers again and the operators rest. */
export function settled(world: World): World {
  let next: World = { ...world, calls: [], jobs: [], mode: 'enforce' };
  next = jumpEnds(later(next)) ?? next;
  for (const _ of next.late) next = takesEffectLate(later(next)) ?? next;
  for (let round = 0; round < 8; round += 1) {
    next = passes((round < 7 ? 2 : 25) * HOUR_MS)(later(next)) ?? next;
    for (let i = 0; i < next.cards.length; i += 1) {
      next = isReadAgain(later(next), i);
      next = isPolled(later(next), i) ?? next;
      next = isTaken(later(next), i) ?? next;
      next = isAnswered('done')(later(next), i) ?? next;
      next = isLookedAt(next, i);
    }
  }
  return next;
}

/** What a settled world still breaks. */
export function openOrders(world: World): string[] {
  return world.cards.flatMap((card, i) => {
    const facts = factsOf(world, card);
    const open = facts.stops
      .filter(({ state }) => state === 'requested')
      .map(() => `card ${i}: its stop is open`);
    const waits = card.resumes.some(({ state }) => state === 'waiting')
      ? [`card ${i}: its resume waits`]
      : [];
    const runs = runsOver(facts, controlOf(world).jump) === 'over_running';
    const iccid = facts.card?.iccid ?? '';
    const isOverRunning = runs && !world.cut.includes(iccid) && !world.spared.includes(iccid);
    return [...open, ...waits, ...(isOverRunning ? [`card ${i}: runs over its package without a stop`] : [])];
  });
}

/** Equal worlds behave alike: times count from now, versions not at all, and far times are far. */
export function keyOf(world: World): string {
  const { now } = world;
  const near = (key: string, value: unknown) => {
    if (key === 'version' || key === 'versions' || key === 'counts') return undefined;
    if (typeof value === 'number' && value > 1e12)
      return Math.round(Math.max(-7_200_000, value - now) / 1_000);
    return value;
  };
  return JSON.stringify({ ...world, runs: 0 }, near);
}

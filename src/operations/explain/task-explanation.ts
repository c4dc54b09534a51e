// Why one card is or is not polled for one task type, from the facts looked up about it. Used by explainer.ts. Pure. All
// sentences of an explanation are in this file, but those about readings (health/reading-reasons.ts) and stops (explainer.ts).
import type { CardMembership } from '../../domain/cards/card.ts';
import type { UsageMonth } from '../../domain/cards/usage-month.ts';
import { dateOf } from '../../domain/date-of.ts';
import { notOfferedWords } from '../../domain/gateway-interface.ts';
import { carrierWords, outlyingCarriersOf } from '../../domain/results/carrier-polls.ts';
import { pausedWords } from '../../domain/schedule/maintenance.ts';
import { stepOf, stepsOf } from '../../domain/schedule/phase.ts';
import { misfitOf, type PollingConfig } from '../../domain/schedule/polling-config.ts';
import { schedulePaceOf } from '../../domain/schedule/schedule-pace.ts';
import { failureWord } from '../../domain/stats/failure-word.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import { countWords, span, spanWords } from '../../domain/words.ts';
import { noWorkerWords } from '../../health/fleet-faults.ts';
import { type InterfaceReport, interfaceWords } from '../../health/gateway-report.ts';
import type { InitProgressFacts } from '../../health/init-progress.ts';
import { doubtWords } from '../../health/reading-reasons.ts';
import type { TaskExplanation } from '../../resources/explanation.ts';
import type { PauseReport } from '../../resources/limits.ts';
import type { StatsReading } from '../../store/ports/live/poll-stats.ts';
import type { QueueCounts } from '../../store/ports/live/work-queue.ts';
import { type CardSchedule, dueMsOf, ringOf } from '../cards/card-schedule.ts';

export interface TaskFacts extends CardSchedule {
  readonly taskType: TaskType;
  /** Whether the gateway offers what the task type calls. */
  readonly offered: boolean;
  readonly card: CardMembership & { readonly lastPolledAtMs: number | null };
  /** null: no reading yet, or a task type that reads no usage. */
  readonly usage: UsageMonth | null;
  /** Why it runs although it is over its package, if it does; none for a task type that stops no card. */
  readonly stopWords: readonly string[];
  readonly nowMs: number;
  readonly counts: QueueCounts;
  readonly reading: StatsReading;
  readonly pauses: readonly PauseReport[];
  /** Breakers that hold back every instance that polls. */
  readonly breakers: readonly InterfaceReport[];
  /** What else holds back every instance that polls; null: nothing. */
  readonly heldBy: string | null;
  /** How often the gateway allows the card to be polled, seconds; 0 without a limit. */
  readonly leastIntervalSeconds: number;
  /** A manual trigger waits for a poll of the card. */
  readonly isTriggered: boolean;
  /** Which rate limit polls of the type wait for; null while they wait for none. */
  readonly paceWords: string | null;
  /** Live instances that poll. */
  readonly workers: number;
  readonly init: Pick<InitProgressFacts, 'status' | 'percent' | 'etaSeconds'>;
  readonly lastFailure: Omit<NonNullable<TaskExplanation['lastFailure']>, 'nextTryAt'> | null;
}

interface Verdict {
  readonly state: TaskExplanation['state'];
  readonly text: string;
  readonly command: string | null;
  readonly wait?: Wait;
}

/** The work before a due card. */
interface Wait {
  readonly cardsBefore: number;
  readonly seconds: number | null;
}

export function taskExplanationOf(facts: TaskFacts): TaskExplanation {
  const { taskType, card, nowMs, taking, member, place, reading } = facts;
  const ring = ringOf(facts);
  const dueMs = dueMsOf(facts, facts.card.cardId);
  const { state, text, command, wait } = verdictOf(facts);
  const overdueMs = dueMs === null || place.running !== null ? null : nowMs - dueMs;
  return {
    taskType,
    state,
    text: [text, ...manualWords(facts), ...facts.stopWords, ...doubtWords(facts.usage, reading)].join('; '),
    command,
    config:
      taking === null ? null : { id: taking.id, name: taking.name, intervalSeconds: taking.intervalSeconds },
    otherConfigs: otherConfigsOf(facts),
    ring: ring === null ? null : { bucket: stepOf(card.cardId, ring), buckets: stepsOf(ring), member },
    nextDueAt: dateOf(dueMs),
    overdueSeconds: overdueMs === null || overdueMs <= 0 ? null : Math.round(overdueMs / 1000),
    cardsBefore: wait?.cardsBefore ?? null,
    expectedInSeconds: wait?.seconds === undefined || wait.seconds === null ? null : Math.ceil(wait.seconds),
    lastSucceededAt: dateOf(card.lastPolledAtMs),
    lastFailure:
      facts.lastFailure === null ? null : { ...facts.lastFailure, nextTryAt: dateOf(place.retry?.atMs) },
  };
}

/** The first check with a verdict gives the reason. */
function verdictOf(facts: TaskFacts): Verdict {
  return (
    running(facts) ??
    notOffered(facts) ??
    unpolled(facts) ??
    held(facts) ??
    failing(facts) ??
    onSchedule(facts)
  );
}

function running({ place }: TaskFacts): Verdict | null {
  if (place.running === null && !place.manual.running) return null;
  const calling = place.running?.calling ?? true;
  const text = calling ? 'is being polled now' : 'was polled; its result is being written';
  return { state: 'running', text, command: null };
}

/** A card that is queued nevertheless leaves the queue without a call. */
function notOffered({ taskType, offered }: TaskFacts): Verdict | null {
  if (offered) return null;
  const text = notOfferedWords(TASKS[taskType].interface);
  return { state: 'not_offered', text, command: 'cardpoll gateway profiles' };
}

/** No config polls it, or its ring does not contain it. A card that is queued nevertheless is polled. */
function unpolled(facts: TaskFacts): Verdict | null {
  const { taking, taskType, place, member, card } = facts;
  const waits = place.queued !== null || place.retry !== null;
  if (waits) return null;
  if (taking === null) {
    return { state: 'unmatched', text: `no ${taskType} config matches it`, command: 'cardpoll configs' };
  }
  if (taking.status === 0) {
    const text = `config ${taking.id} (${taking.name}) matches it, but is disabled`;
    return { state: 'disabled', text, command: `cardpoll configs enable ${taking.id}` };
  }
  const ring = ringOf(facts);
  if (member && ring?.enabled === true) return null;
  if (member) {
    const text = `config ${taking.id} (${taking.name}) was enabled, but its schedule is not built yet`;
    return { state: 'not_loaded', text, command: 'cardpoll doctor' };
  }
  return notLoaded(facts.init, card.cardId);
}

const NOT_SCHEDULED =
  'is not in the schedule: a new or changed card is added within seconds, a lost one by the next comparison';

function notLoaded(init: TaskFacts['init'], cardId: number): Verdict {
  const state = 'not_loaded';
  switch (init.status) {
    case 'running': {
      const left = init.etaSeconds === null ? '' : `, ${spanWords(init.etaSeconds)} left`;
      const text = `is not loaded yet: initialisation is at ${init.percent} %${left}`;
      return { state, text, command: 'cardpoll init' };
    }
    case 'stuck':
      return { state, text: 'is not loaded: initialisation makes no progress', command: 'cardpoll doctor' };
    case 'pending':
      return { state, text: 'is not loaded: the initialisation has not begun', command: 'cardpoll init' };
    case 'completed':
      return { state, text: `card ${cardId} ${NOT_SCHEDULED}`, command: 'cardpoll init rebuild' };
  }
}

function held({ pauses, breakers, heldBy, workers, taskType, nowMs }: TaskFacts): Verdict | null {
  const [pause] = pauses;
  if (pause !== undefined) {
    const left = span(Math.ceil(Math.max(0, pause.until.getTime() - nowMs) / 1000));
    const { maintenanceId: window } = pause;
    const command = window === null ? `cardpoll resume ${taskType}` : `cardpoll maintenance cancel ${window}`;
    return { state: 'paused', text: `is ${pausedWords(pause, window, `for ${left} more`)}`, command };
  }
  const [breaker] = breakers;
  if (breaker !== undefined) {
    const since = breaker.since === null ? '' : ` for ${spanWords((nowMs - breaker.since.getTime()) / 1000)}`;
    const why = breaker.reason === null ? '' : `: ${breaker.reason}`;
    const probe =
      breaker.nextProbeAt === null
        ? ''
        : `, next probe in ${spanWords(Math.max(0, (breaker.nextProbeAt.getTime() - nowMs) / 1000))}`;
    return {
      state: 'held',
      text: `${interfaceWords(breaker)} is held back${since}${why}${probe}`,
      command: 'cardpoll doctor',
    };
  }
  if (workers === 0) return { state: 'held', ...noWorkerWords(null) };
  return heldBy === null
    ? null
    : { state: 'held', text: `is held back: ${heldBy}`, command: 'cardpoll doctor' };
}

function failing(facts: TaskFacts): Verdict | null {
  const { place, nowMs, lastFailure } = facts;
  const { failuresInARow: failures, retry } = place;
  // Cards that do not fail may wait in this lane too: due while they ran, or while the queue was full.
  if (failures === 0) return null;
  const why = lastFailure === null ? '' : ` (${failureWord(lastFailure.reason)})`;
  const failed = `failed ${failures === 1 ? 'once' : `${failures} times in a row`}${why}`;
  const carrier = carrierTail(facts);
  const command = 'cardpoll stats failures';
  if (retry === null) {
    const dueMs = dueMsOf(facts, facts.card.cardId) ?? nowMs;
    if (dueMs <= nowMs) {
      const due = onSchedule(facts);
      return { ...due, text: `${due.text}; ${failed}${carrier}`, command: due.command ?? command };
    }
    const when = spanWords((dueMs - nowMs) / 1000);
    const text = `${failed}: polled again at its regular time, in ${when}${carrier}`;
    return { state: 'backoff', text, command };
  }
  if (retry.atMs > nowMs) {
    const text = `${failed}: next try in ${spanWords((retry.atMs - nowMs) / 1000)}${carrier}`;
    return { state: 'backoff', text, command };
  }
  const before = countWords(retry.before, 'failing card');
  const text = `${failed}: its next try is due, with ${before} before it and a tenth of the slots for them${carrier}`;
  return { state: 'backoff', text, command };
}

/** Names the carrier if its cards fail far more often than others. */
function carrierTail({ card, reading }: TaskFacts): string {
  const own = outlyingCarriersOf(reading.window).find(({ carrierId }) => carrierId === card.carrierId);
  return own === undefined ? '' : `; ${carrierWords(own)}`;
}

function onSchedule(facts: TaskFacts): Verdict {
  const { place, nowMs, counts, rings, reading } = facts;
  const dueMs = dueMsOf(facts, facts.card.cardId) ?? nowMs;
  if (dueMs > nowMs) {
    return { state: 'scheduled', text: `is due in ${spanWords((dueMs - nowMs) / 1000)}`, command: null };
  }
  const late = Math.floor((nowMs - dueMs) / 1000);
  const since = late === 0 ? 'is due now' : `is overdue ${spanWords(late)}`;
  const laneBefore = place.queued === null ? place.retry?.before : undefined;
  if (laneBefore !== undefined && laneBefore > 0) {
    const before = countWords(laneBefore, 'card is', 'cards are');
    const text = `${since}: ${before} before it in the retry lane, which gets a tenth of the slots`;
    return { state: 'due', text, command: null, wait: { cardsBefore: laneBefore, seconds: null } };
  }
  const cardsBefore =
    place.queued?.before ?? laneBefore ?? counts.due + schedulePaceOf(rings, dueMs).overdueCards;
  const seconds = secondsToPoll(cardsBefore, counts.manualLength, reading);
  const wait = { cardsBefore, seconds };
  if (cardsBefore === 0) return { state: 'due', text: `${since} and next`, command: null, wait };
  const { paceWords } = facts;
  const paced = paceWords === null ? '' : `, and ${paceWords}`;
  const before = `${countWords(cardsBefore, 'card is', 'cards are')} before it${paced}`;
  const advice = paceWords === null ? 'cardpoll concurrency advise' : 'cardpoll configs';
  if (seconds === null) {
    // Under a slow rate limit that is the rule.
    const text = `${since}: ${before}${paceWords === null ? ', but none was polled for 10 s' : ''}`;
    return { state: 'due', text, command: paceWords === null ? 'cardpoll doctor' : advice, wait };
  }
  const text = `${since}: ${before}, about ${spanWords(Math.max(1, seconds))}`;
  return { state: 'due', text, command: seconds > 1 ? advice : null, wait };
}

/**
 * Seconds until `cards` scheduled cards are polled, at the present rate; null when nothing was polled lately. Manual work takes
 * half of the polls as long as there is any.
 */
function secondsToPoll(cards: number, manualLength: number, { recent }: StatsReading): number | null {
  if (cards === 0) return 0;
  if (recent.polls === 0) return null;
  return (cards + Math.min(cards, manualLength)) / (recent.polls / recent.seconds);
}

function manualWords(facts: TaskFacts): string[] {
  const { waiting, running: isRunning } = facts.place.manual;
  const nextMs = lastPolledMs(facts) + facts.leastIntervalSeconds * 1_000;
  const isWaiting = waiting !== null || (facts.isTriggered && !isRunning);
  if (isWaiting && facts.leastIntervalSeconds > 0 && nextMs > facts.nowMs) {
    const every = spanWords(facts.leastIntervalSeconds);
    const nextAt = new Date(nextMs).toISOString();
    return [
      `too early for its manual trigger, next at ${nextAt}: the gateway allows one poll every ${every}`,
    ];
  }
  if (waiting === null) return [];
  return [`a manual trigger polls it too, ${countWords(waiting.before, 'entry', 'entries')} before it`];
}

/** Well or not; 0 for a card that never was. */
function lastPolledMs({ card, lastFailure }: TaskFacts): number {
  return Math.max(card.lastPolledAtMs ?? 0, lastFailure?.at.getTime() ?? 0);
}

/** Why the other configs of the task type do not poll the card. */
function otherConfigsOf(facts: TaskFacts): TaskExplanation['otherConfigs'] {
  return facts.configs
    .filter(({ id }) => id !== facts.taking?.id)
    .map((config) => ({ id: config.id, name: config.name, reason: misfitWords(config, facts) }));
}

function misfitWords(config: PollingConfig, { taking, card }: TaskFacts): string {
  switch (misfitOf(config, card)) {
    case 'carrier':
      return `is for carrier ${config.carrierId}, the card is of carrier ${card.carrierId}`;
    case 'condition':
      return `is for ${config.cardCondition === 'verified' ? 'verified cards' : 'cards not verified'}, the card is ${
        card.realNameVerified ? 'verified' : 'not verified'
      }`;
    case null:
      return taking !== null && taking.priority > config.priority
        ? `has priority ${config.priority}, less than ${taking.priority}`
        : `has the same priority ${config.priority}, and the config with the lower id wins`;
  }
}

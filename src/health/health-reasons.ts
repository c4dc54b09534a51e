// Why a task type is not normal, and which command to run next. Used by the judge for one task type and for the fleet.
// API, command line and doctor show these sentences and add none. Pure.
//
// domain/health.ts judges the four metrics (operations interface, section 8). The other reasons cover what these
// metrics do not show: polling that is held back, that does not happen, or that is slower than configured.

import { dateOf } from '../domain/date-of.ts';
import { type FaultKind, faultWords, kindOfFailure } from '../domain/gateway-fault.ts';
import {
  type Health,
  type HealthInputs,
  judgeMetrics,
  METRICS,
  type Metric,
  worst,
} from '../domain/health.ts';
import { NOT_IN_FORCE } from '../domain/limits/in-force.ts';
import { REASON_AFTER_SECONDS } from '../domain/limits/operator-limits.ts';
import type { CatchingUp } from '../domain/limits/resume-ramp.ts';
import { percentDown } from '../domain/numbers.ts';
import { carrierWords, type FailingCarrier } from '../domain/results/carrier-polls.ts';
import { type CarrierCards, unselectedWords } from '../domain/schedule/card-counts.ts';
import { pausedWords, windowOfPause } from '../domain/schedule/maintenance.ts';
import type { SchedulePace } from '../domain/schedule/schedule-pace.ts';
import { secondsWords } from '../domain/stats/usual-latency.ts';
import type { TaskType } from '../domain/task-type.ts';
import { countWords, span, spanWords } from '../domain/words.ts';
import type { LimitRecord, Pause, QueueCounts } from '../store/ports/live/work-queue.ts';
import type { LimitAdvice } from './advisor.ts';
import { type Capacity, type PaceNeed, paceShortText } from './capacity.ts';
import { easedAfterPause } from './explains.ts';
import { type FleetState, fleetFaults } from './fleet-faults.ts';
import { type BreakerInputs, breakerReasons, type PresentFault, withoutKind } from './gateway-report.ts';
import { type LatencyInputs, latencyReasons } from './latency-reasons.ts';
import { doubtReasons, type ReadingCounts, readingReasons } from './reading-reasons.ts';
import type { Cause, HealthReason } from './reason.ts';
import { mergedReasons } from './reason-order.ts';
import { type StopFigures, stopReasons } from './stop-figures.ts';

/** The name of a reason in the health log. */
export function reasonName({ taskType, code }: Pick<HealthReason, 'taskType' | 'code'>): string {
  return taskType === null ? code : `${taskType} ${code}`;
}

/** Start of each reason by its name (see reasonName), epoch milliseconds. */
type ReasonsSince = ReadonlyMap<string, number>;

type ReasonedPause = Pick<Pause, 'id' | 'source' | 'by' | 'reason' | 'sinceMs' | 'untilMs'>;

/** What the judge knows of a task type besides its own numbers. */
export interface TaskSurroundings extends Omit<BreakerInputs, 'present'>, Pick<PaceNeed, 'paceShare'> {
  /** null: not known, or a task type that stops no cards. */
  readonly stops: StopFigures | null;
  /** How calls fail to get through to the gateway; absent: they do. */
  readonly fault?: PresentFault | null;
  readonly pauses: readonly ReasonedPause[];
  /** After a pause; null or absent: what is late has another cause. */
  readonly catching?: CatchingUp | null;
  /** Every instance started less than a minute ago. */
  readonly starting: boolean;
  readonly since: ReasonsSince;
  /** Carriers with cards that no enabled config of the task type selects; absent: not known. */
  readonly unselected?: readonly CarrierCards[];
  /** Carriers of which many cards have a counter in doubt; absent: not known, or the task type reads no usage. */
  readonly inDoubt?: readonly CarrierCards[];
}

export interface TaskHealthInputs
  extends TaskSurroundings,
    BreakerInputs,
    HealthInputs,
    PaceNeed,
    Omit<LatencyInputs, 'grows'>,
    Pick<QueueCounts, 'due' | 'waitedMs' | 'inFlight' | 'inForce'>,
    Pick<SchedulePace, 'achievedIntervalSeconds'>,
    Pick<Capacity, 'drainSeconds'> {
  readonly taskType: TaskType;
  /** Polls that ended in the last ten to twenty seconds. */
  readonly recentPolls: number;
  /** `reason`: why the limit in force is below the configured one, with figures; null: it is not, or that is unknown. */
  readonly limit: (LatencyInputs['limit'] & Pick<LimitRecord, 'reason'>) | null;
  readonly readings: ReadingCounts;
  /** Polls of the last seconds, or of five minutes where these are few, and those of them that cardpoll itself held back. */
  readonly polls: number;
  readonly held: number;
  /** How far back they go. */
  readonly judgedSeconds: number;
  /** The failed ones of these without the held ones: kind of failure -> count. */
  readonly failedBy: Readonly<Record<string, number>>;
  /** Carriers that fail far more than the others, the worst first. */
  readonly outlyingCarriers: readonly FailingCarrier[];
  /** Of advisor.ts; its remedy is null while the limit meets the demand. */
  readonly advice: LimitAdvice;
}

/** Rings are often behind for moments. Above these ratios they miss the configured interval. */
const INTERVAL_RATIO = { warningAbove: 1.5, alertAbove: 3 };
/** More than this share of the polls may not be held back. */
const HELD_PERCENT = 5;
/** Cards that came due later may be polled in a moment. */
const STILL_MS = 10_000;
const FAILURES_NAMED = 3;
const CARRIERS_NAMED = 2;
/** The same tolerance for short intervals. */
const INTERVAL_SLACK_SECONDS = 5;

/** @returns why the task type is not healthy; empty when it is. reason-order.ts brings reasons into order. */
export function taskReasons(inputs: TaskHealthInputs): HealthReason[] {
  const causes: Cause[] = [
    ...inForceReasons(inputs),
    ...pauseReasons(inputs),
    ...breakerReasons(inputs),
    ...idleReasons(inputs),
    ...latencyReasons({ ...inputs, grows: grows(inputs) }),
    ...carrierReasons(inputs),
    ...metricReasons(inputs),
    ...heldReasons(inputs),
    ...stopReasons(inputs.stops),
    ...readingReasons(inputs.readings),
    ...intervalReasons(inputs),
    ...limitReasons(inputs),
    ...unselectedReasons(inputs),
    ...doubtReasons(inputs.inDoubt ?? []),
  ];
  const eased = causes.flatMap((cause) => easedAfterPause(cause, inputs.catching ?? null));
  const own = inputs.starting ? eased.map(calmed) : eased;
  return own.map((cause) => dated(cause, inputs.taskType, inputs.since));
}

/** What is not in order yet when a fleet has just started. */
export const OF_A_START: readonly string[] = [
  ...METRICS,
  'gateway_slow',
  'carrier_slow',
  'interval_missed',
  'nothing_polled',
];

/** As a warning that says why: no one is to be woken by a start. */
function calmed(cause: Cause): Cause {
  if (cause.severity !== 'alert' || !OF_A_START.includes(cause.code)) return cause;
  const text = `${cause.text}; every instance started less than a minute ago`;
  return { ...cause, severity: 'warning', text };
}

function dated(
  { sinceMs: began, ...cause }: Cause,
  taskType: TaskType | null,
  since: ReasonsSince,
): HealthReason {
  const sinceMs = began ?? since.get(reasonName({ taskType, code: cause.code }));
  return { ...cause, taskType, since: dateOf(sinceMs), causedBy: null };
}

interface FleetHealthInputs extends Omit<FleetState, 'clocksDifferSinceMs' | 'isLate'> {
  readonly tasks: ReadonlyArray<{ readonly taskType: TaskType; readonly reasons: readonly HealthReason[] }>;
  readonly pauses: ReadonlyArray<Omit<ReasonedPause, 'id' | 'sinceMs'>>;
  readonly since: ReasonsSince;
}

/** Why the fleet is not normal: reasons of the whole fleet, then those of its task types. */
export function fleetReasons({ tasks, since, ...state }: FleetHealthInputs): HealthReason[] {
  const clocksDifferSinceMs = since.get(reasonName({ taskType: null, code: 'clocks_differ' }));
  const isLate = tasks.some(({ reasons }) => reasons.some(({ code }) => code === 'interval_missed'));
  const faults = fleetFaults({ ...state, clocksDifferSinceMs, isLate }).map((cause) =>
    dated(cause, null, since),
  );
  const own = tasks.flatMap(({ taskType, reasons }) =>
    reasons.map((reason) => ({ ...reason, text: `${taskType}: ${reason.text}` })),
  );
  const slowSinceMs = since.get(reasonName({ taskType: null, code: 'gateway_slow' }));
  return [...faults, ...mergedReasons(own, state.pauses, slowSinceMs)];
}

/** More comes due than is polled, so the backlog grows until something changes. */
function grows({ advice }: Pick<TaskHealthInputs, 'advice'>): boolean {
  return advice.remedy !== null;
}

export function healthOfReasons(reasons: readonly HealthReason[]): Health {
  return worst(reasons.map(({ severity }) => severity));
}

function inForceReasons({ inForce, starting }: TaskHealthInputs): Cause[] {
  // Every start begins so, and the leader ends it within seconds.
  if (inForce || starting) return [];
  return [{ code: 'not_in_force', severity: 'alert', text: NOT_IN_FORCE, command: 'cardpoll doctor' }];
}

function pauseReasons({ taskType, pauses, nowMs }: TaskHealthInputs): Cause[] {
  return pauses.map(({ id, source, by, reason, sinceMs, untilMs }) => {
    const window = windowOfPause(id);
    const left = span(Math.max(0, Math.ceil((untilMs - nowMs) / 1000)));
    // One that lasts may be forgotten.
    const seconds = Math.floor((nowMs - sinceMs) / 1000);
    const since = seconds >= REASON_AFTER_SECONDS ? `for ${span(seconds)}, and ` : '';
    return {
      code: 'paused',
      // Operators know what they paused; a pause that the gateway asked for is news.
      severity: source === 'operator' ? 'warning' : 'alert',
      text: pausedWords({ source, by, reason }, window, `${since}for ${left} more`),
      command: window === null ? `cardpoll resume ${taskType}` : `cardpoll maintenance cancel ${window}`,
      // The gateway asks again and again: then the health log has the first time.
      ...(source === 'operator' ? { sinceMs } : {}),
    };
  });
}

function idleReasons(inputs: TaskHealthInputs): Cause[] {
  const { due, waitedMs, inFlight, recentPolls, pauses, breakers, paceShare } = inputs;
  // A batch is one call.
  const isRare = paceShare !== null && (10 * paceShare.perSecond) / paceShare.cardsPerCall < 1;
  const held = pauses.length > 0 || breakers.length > 0 || isRare;
  if (due === 0 || waitedMs < STILL_MS || inFlight > 0 || recentPolls > 0 || held) return [];
  const [are, none] = due === 1 ? ['is', 'it was not'] : ['are', 'none was'];
  const text = `${countWords(due, 'card')} ${are} due, and ${none} polled for 10 s`;
  return [{ code: 'nothing_polled', severity: 'alert', text, command: 'cardpoll doctor' }];
}

function metricReasons(inputs: TaskHealthInputs): Cause[] {
  const { queueLength, successRate, avgDurationMs, concurrencyPercent } = inputs;
  const said: Record<Metric, readonly [text: string, command: string]> = {
    queue_backlog: [
      `${countWords(queueLength, 'card')} in the queue${drainWords(inputs)}`,
      adviceCommand(inputs),
    ],
    // Where nothing succeeds, the gateway itself is to be looked at, not the cards that fail.
    success_rate:
      successRate === 0
        ? [`${faultStart(inputs)}no poll succeeds${failureWords(inputs)}`, 'cardpoll doctor']
        : [
            `${faultStart(inputs)}${percentDown(successRate ?? 0, 1)} % of polls succeed${presentWords(inputs)}${failureWords(inputs)}`,
            'cardpoll stats failures',
          ],
    avg_duration: [
      `a poll takes ${secondsWords(avgDurationMs ?? 0)} on average`,
      'cardpoll concurrency advise',
    ],
    concurrency_usage: [
      `${tenths(concurrencyPercent)} % of the limit is in use, and the queue grows`,
      adviceCommand(inputs),
    ],
  };
  const verdicts = judgeMetrics(inputs);
  return METRICS.flatMap((code) => {
    const [text, command] = said[code];
    const severity = verdicts[code];
    // A limit that is used up and enough is a fact.
    const isFact = code === 'concurrency_usage' && !grows(inputs);
    const kind = code === 'success_rate' ? kindOf(inputs) : null;
    return severity === 'normal' || isFact ? [] : [{ code, severity, text, command, kind }];
  });
}

/** How most of the failed polls failed; null: by their cards. */
function kindOf({ fault, failedBy }: TaskHealthInputs): FaultKind | null {
  const [[most = ''] = []] = Object.entries(failedBy).sort(([, a], [, b]) => b - a);
  const kind = kindOfFailure(most);
  return kind === 'connect' || kind === 'token' ? (fault?.kind ?? kind) : kind;
}

/** What a breaker says ten seconds later. */
function faultStart(inputs: TaskHealthInputs): string {
  const { fault = null } = inputs;
  const words = fault?.kind === kindOf(inputs) ? faultWords(fault?.kind) : null;
  if (fault === null || words === null) return '';
  const who = fault.instanceIds.length === 0 ? '' : ` (${fault.instanceIds.join(', ')})`;
  return `${words}${who}: ${withoutKind(fault.text)}: `;
}

/** The success rate leaves these polls out, so they need words of their own. A breaker or a pause explains them already. */
function heldReasons({ polls, held, pauses, breakers, followUps }: TaskHealthInputs): Cause[] {
  const percent = (100 * held) / Math.max(1, polls);
  if (percent <= HELD_PERCENT || pauses.length + breakers.length + followUps.length > 0) return [];
  const text = `${percentDown(percent, 1)} % of polls could not make their call in time: cardpoll held them back`;
  return [{ code: 'polls_held', severity: 'warning', text, command: 'cardpoll stats failures' }];
}

/** Calls that wait for a rate limit hold the limit of calls, too; a higher one does not help them. */
function adviceCommand(inputs: TaskHealthInputs): string {
  return paceShortText(inputs) === null ? 'cardpoll concurrency advise' : 'cardpoll configs';
}

function drainWords({ drainSeconds, advice }: TaskHealthInputs): string {
  if (grows({ advice })) return ', which never drains at this rate';
  return drainSeconds === null ? '' : `, drained in about ${spanWords(drainSeconds)}`;
}

/** What the last seconds show, where five minutes are judged because chance explains the difference. */
function presentWords({ successRate, judgedSeconds, present }: TaskHealthInputs): string {
  const now = present.successRate;
  if (now === null || now === successRate) return '';
  return ` in ${spanWords(judgedSeconds)}, ${percentDown(now, 1)} % in the last ${spanWords(present.seconds)}`;
}

/** A gateway that fails for one carrier is not dead: the polls of the others are the second witness. */
function carrierReasons(inputs: TaskHealthInputs): Cause[] {
  const { outlyingCarriers } = inputs;
  const { success_rate: severity } = judgeMetrics(inputs);
  if (outlyingCarriers.length === 0 || severity === 'normal') return [];
  const named = outlyingCarriers.slice(0, CARRIERS_NAMED).map(carrierWords).join(', ');
  const text = `${named}, far more than for the other carriers`;
  return [{ code: 'carrier_failing', severity, text, command: 'cardpoll stats failures' }];
}

function failureWords({ failedBy }: TaskHealthInputs): string {
  const most = Object.entries(failedBy)
    .sort(([, a], [, b]) => b - a)
    .slice(0, FAILURES_NAMED);
  return most.length === 0 ? '' : `; failures: ${most.map((one) => one.join(' ')).join(', ')}`;
}

function intervalReasons(inputs: TaskHealthInputs): Cause[] {
  const { intervalSeconds: configured, achievedIntervalSeconds: achieved } = inputs;
  if (configured === null || achieved === null) return [];
  const ratio = achieved / configured;
  const late = achieved - configured > INTERVAL_SLACK_SECONDS;
  if (!late || ratio <= INTERVAL_RATIO.warningAbove) return [];
  return [
    {
      code: 'interval_missed',
      severity: ratio > INTERVAL_RATIO.alertAbove ? 'alert' : 'warning',
      text: `cards are polled every ${spanWords(achieved)} instead of every ${spanWords(configured)}`,
      command: adviceCommand(inputs),
    },
  ];
}

/** A limit that is reduced and enough is a fact, such as a trial of some seconds. */
function limitReasons(inputs: TaskHealthInputs): Cause[] {
  const { taskType, effectiveConcurrency, maxConcurrency, limit, advice, slowness } = inputs;
  const { remedy, verdict, maxConcurrency: advised } = advice;
  if (remedy === null) return paceReasons(inputs);
  const reasons: Cause[] = [];
  if (effectiveConcurrency < maxConcurrency) {
    reasons.push({
      code: 'limit_reduced',
      severity: 'warning',
      text: `the limit is reduced to ${effectiveConcurrency} of ${maxConcurrency}: ${limit?.reason ?? 'the reason is not known yet'}`,
      command: 'cardpoll concurrency advise',
    });
  }
  const short = paceReasons(inputs);
  if (short.length > 0) return [...reasons, ...short];
  const other = slowness === null ? 'cardpoll configs' : 'cardpoll doctor';
  reasons.push({
    code: 'overloaded',
    severity: 'warning',
    text: `demand exceeds what can be polled: ${remedy}`,
    command: verdict === 'raise' ? `cardpoll concurrency set ${taskType} ${advised}` : other,
  });
  return reasons;
}

/** A warning: no queue and no lag shows cards that are in no schedule. */
function unselectedReasons({ taskType, unselected = [] }: TaskHealthInputs): Cause[] {
  if (unselected.length === 0) return [];
  const text = unselectedWords(taskType, unselected);
  return [{ code: 'cards_unselected', severity: 'warning', text, command: 'cardpoll configs' }];
}

function paceReasons(inputs: TaskHealthInputs): Cause[] {
  const text = paceShortText(inputs);
  return text === null
    ? []
    : [{ code: 'pace_short', severity: 'warning', text, command: 'cardpoll configs' }];
}

function tenths(value: number | null): number {
  return Math.round((value ?? 0) * 10) / 10;
}

// THE table of causes: which reason can follow from which other reason, and which reasons a change by an operator can cause. Used
// by reason-order.ts, which orders the reasons, by change-before.ts, which looks for changes, and by the alerts. Also the
// after-effects of a pause. Pure.
import { ACCESS_FAULTS, type FaultKind } from '../domain/gateway-fault.ts';
import { type CatchingUp, LONG_PAUSE_MS } from '../domain/limits/resume-ramp.ts';
import type { ReasonCode } from '../domain/reasons.ts';
import { spanWords } from '../domain/words.ts';
import type { Cause } from './reason.ts';

/** Cards come due faster than they are polled. */
export const QUEUES = ['queue_backlog', 'concurrency_usage', 'interval_missed'] as const;
/** More polls, or fewer calls at a time. An import can cause these, but never slowness. */
export const LOAD: readonly ReasonCode[] = [...QUEUES, 'overloaded', 'pace_short'];
/** More calls may overload the gateway, or reach cards that it does not know. */
export const STRAIN: readonly ReasonCode[] = [
  ...(['gateway_slow', 'avg_duration', 'success_rate', 'breaker_open', 'limit_reduced'] as const),
  'polls_held',
];
/** More calls may overload our own machine and stores. These alone never name a change. */
const OWN_SIDE: readonly ReasonCode[] = ['own_cpu', 'redis_slow', 'database_slow'];

const TOO_FEW_POLLS: readonly ReasonCode[] = [...QUEUES, 'overloaded', 'nothing_polled', 'limit_reduced'];
const SLOW_POLLS: readonly ReasonCode[] = [...TOO_FEW_POLLS, 'success_rate', 'avg_duration', 'polls_held'];

type Table = ReadonlyArray<readonly [cause: ReasonCode, follows: readonly ReasonCode[]]>;

/** Causes that stop polls altogether. They explain every symptom of the polls, even one that began earlier. */
const HOLDS_BACK: Table = [
  ['table_locked', [...TOO_FEW_POLLS, 'database_outage', 'database_slow', 'init_stuck', 'part_failing']],
  ['no_worker', SLOW_POLLS],
  ['no_scheduler', TOO_FEW_POLLS],
  ['database_outage', [...SLOW_POLLS, 'database_slow']],
  ['not_in_force', TOO_FEW_POLLS],
  ['paused', TOO_FEW_POLLS],
  ['breaker_open', [...SLOW_POLLS, 'gateway_slow']],
];
/** Causes of a reason that began at the same time or later. The first of several causes counts. */
const SLOWS_DOWN: Table = [
  ['own_cpu', [...SLOW_POLLS, 'gateway_slow', 'carrier_slow', 'redis_slow', 'database_slow']],
  ['redis_slow', [...SLOW_POLLS, 'gateway_slow', 'carrier_slow']],
  ['database_slow', [...SLOW_POLLS, 'gateway_slow', 'carrier_slow']],
  ['gateway_slow', SLOW_POLLS],
  ['carrier_slow', [...SLOW_POLLS, 'gateway_slow']],
  ['carrier_failing', ['success_rate']],
  ['pace_short', TOO_FEW_POLLS],
  ['overloaded', TOO_FEW_POLLS],
  ['usage_jump', ['stops_held']],
];

/** The compared parts of a reason: its code and, if calls fail, the kind of failure. */
interface Explainable {
  readonly code: string;
  readonly kind?: FaultKind | null | undefined;
}

/** @returns the rank of a cause among those that stop polls; -1: it does not, or the reason does not follow from it. */
export const placeOfHold = (cause: Explainable, { code }: Explainable) => placeIn(HOLDS_BACK, cause, code);

/** @returns the rank of a cause among those that slow polls down; -1: the reason does not follow from it. */
export function placeOfSlowness(cause: Explainable, reason: Explainable): number {
  return isOfAccess(reason) ? -1 : placeIn(SLOWS_DOWN, cause, reason.code);
}

/** @param changed reasons that the change behind the cause can bring about. */
export function isStrainedBy(changed: readonly string[], reason: Explainable): boolean {
  const reached = STRAIN.some((code) => changed.includes(code)) ? [...changed, ...OWN_SIDE] : changed;
  return reached.includes(reason.code) && !isOfAccess(reason);
}

/** Whether a reason can follow from another one, in any order of time. */
export function canExplain(cause: Explainable, reason: Explainable): boolean {
  return placeOfHold(cause, reason) >= 0 || placeOfSlowness(cause, reason) >= 0;
}

/** No change, load or slowness makes a name unknown or a token wrong. */
export function isOfAccess({ kind = null }: Explainable): boolean {
  return (ACCESS_FAULTS as readonly unknown[]).includes(kind);
}

function placeIn(table: Table, { code }: Explainable, reason: string): number {
  return table.findIndex(
    ([cause, follows]) => cause === code && (follows as readonly string[]).includes(reason),
  );
}

/** What is late after a pause follows from it. */
const OF_A_PAUSE: readonly ReasonCode[] = [...QUEUES, 'overloaded', 'limit_reduced'];
/** In the first minute the means of the last seconds are still of the pause, and all that waited is polled at once. */
const OF_ITS_FIRST_MINUTE: readonly ReasonCode[] = [
  ...OF_A_PAUSE.filter((code) => code !== 'queue_backlog'),
  'nothing_polled',
];
/** Then the load after a long pause makes calls slow, too. A short one explains nothing of the gateway. */
const OF_A_LONG_PAUSE: readonly ReasonCode[] = ['avg_duration', 'gateway_slow', 'pace_short', 'polls_held'];

/**
 * A pause that ends wakes no one for what it leaves behind. Catching up means that cards are polled: where none is after the first
 * minute, the pause is no excuse.
 */
export function easedAfterPause(cause: Cause, catching: CatchingUp | null): Cause[] {
  if (catching === null) return [cause];
  const isLong = catching.pausedMs >= LONG_PAUSE_MS;
  const left = isLong ? [...OF_ITS_FIRST_MINUTE, ...OF_A_LONG_PAUSE] : OF_ITS_FIRST_MINUTE;
  if (catching.isFirst && left.includes(cause.code)) return [];
  if (!OF_A_PAUSE.includes(cause.code)) return [cause];
  const text = `${cause.text}; catching up after a pause of ${spanWords(catching.pausedMs / 1000)}`;
  return [{ ...cause, severity: 'warning', text }];
}

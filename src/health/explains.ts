// THE table of causes: which reason can follow from which other reason, and what a change of an operator can bring about. Used by
// reason-order.ts, which orders the reasons, by change-before.ts, which looks for changes, and by the alerts. Also what a pause that has
// ended leaves behind. Pure.
import { ACCESS_FAULTS, type FaultKind } from '../domain/gateway-fault.ts';
import type { CatchingUp } from '../domain/limits/resume-ramp.ts';
import type { ReasonCode } from '../domain/reasons.ts';
import { spanWords } from '../domain/words.ts';
import type { Cause } from './reason.ts';

/** Cards come due faster than they are polled. */
export const QUEUES = ['queue_backlog', 'concurrency_usage', 'interval_missed'] as const;
/** More polls, or fewer calls at a time. An import can cause these, and never what is slow. */
export const LOAD: readonly ReasonCode[] = [...QUEUES, 'overloaded', 'pace_short'];
/** More calls may be more than the gateway takes, or reach cards that it does not know. */
export const STRAIN: readonly ReasonCode[] = [
  ...(['gateway_slow', 'avg_duration', 'success_rate', 'breaker_open', 'limit_reduced'] as const),
  'polls_held',
];
/** More calls may be more than our own machine and stores take. No change is named with these alone. */
const OWN_SIDE: readonly ReasonCode[] = ['own_cpu', 'redis_slow', 'database_slow'];

const TOO_FEW_POLLS: readonly ReasonCode[] = [...QUEUES, 'overloaded', 'nothing_polled', 'limit_reduced'];
const SLOW_POLLS: readonly ReasonCode[] = [...TOO_FEW_POLLS, 'success_rate', 'avg_duration', 'polls_held'];

type Table = ReadonlyArray<readonly [cause: ReasonCode, follows: readonly ReasonCode[]]>;

/** What holds polls back altogether. Whatever polls show then, they show because of it, also if it began earlier. */
const HOLDS_BACK: Table = [
  ['no_worker', SLOW_POLLS],
  ['no_scheduler', TOO_FEW_POLLS],
  ['database_outage', [...SLOW_POLLS, 'database_slow']],
  ['not_in_force', TOO_FEW_POLLS],
  ['paused', TOO_FEW_POLLS],
  ['breaker_open', [...SLOW_POLLS, 'gateway_slow']],
];
/** What can explain a reason that did not begin before it. Of several causes the first counts. */
const SLOWS_DOWN: Table = [
  ['own_cpu', [...SLOW_POLLS, 'gateway_slow', 'carrier_slow', 'redis_slow', 'database_slow']],
  ['redis_slow', [...SLOW_POLLS, 'gateway_slow', 'carrier_slow']],
  ['database_slow', [...SLOW_POLLS, 'gateway_slow', 'carrier_slow']],
  ['gateway_slow', SLOW_POLLS],
  ['carrier_slow', SLOW_POLLS],
  ['carrier_failing', ['success_rate']],
  ['pace_short', TOO_FEW_POLLS],
  ['overloaded', TOO_FEW_POLLS],
  ['usage_jump', ['stops_held']],
];

/** What is compared of a reason: its code and, where calls fail, how. */
interface Explainable {
  readonly code: string;
  readonly kind?: FaultKind | null | undefined;
}

/** @returns the place of a cause among those that hold polls back; -1: it does not, or the reason does not follow from that. */
export const placeOfHold = (cause: Explainable, { code }: Explainable) => placeIn(HOLDS_BACK, cause, code);

/** @returns the place of a cause among those that slow polls down; -1: the reason does not follow from it. */
export function placeOfSlowness(cause: Explainable, reason: Explainable): number {
  return isOfAccess(reason) ? -1 : placeIn(SLOWS_DOWN, cause, reason.code);
}

/** @param changed what the change behind the cause can bring about. */
export function isStrainedBy(changed: readonly string[], reason: Explainable): boolean {
  const reached = STRAIN.some((code) => changed.includes(code)) ? [...changed, ...OWN_SIDE] : changed;
  return reached.includes(reason.code) && !isOfAccess(reason);
}

/** Whether a reason can follow from another one, whenever both began. */
export function canExplain(cause: Explainable, reason: Explainable): boolean {
  return placeOfHold(cause, reason) >= 0 || placeOfSlowness(cause, reason) >= 0;
}

/** No change, no load and nothing slow makes a name unknown or a token wrong. */
export function isOfAccess({ kind = null }: Explainable): boolean {
  return (ACCESS_FAULTS as readonly unknown[]).includes(kind);
}

function placeIn(table: Table, { code }: Explainable, reason: string): number {
  return table.findIndex(
    ([cause, follows]) => cause === code && (follows as readonly string[]).includes(reason),
  );
}

/** What is late after a pause follows from it. */
const OF_A_PAUSE: readonly ReasonCode[] = [...QUEUES, 'nothing_polled', 'overloaded', 'limit_reduced'];
/** In the first minute the means of the last seconds are still of the pause, and all that waited is polled at once. */
const OF_ITS_FIRST_MINUTE: readonly ReasonCode[] = [
  ...OF_A_PAUSE.filter((code) => code !== 'queue_backlog'),
  ...(['avg_duration', 'gateway_slow', 'pace_short', 'polls_held'] as const),
];

/** A pause that ends wakes no one for what it leaves behind. */
export function easedAfterPause(cause: Cause, catching: CatchingUp | null): Cause[] {
  if (catching === null) return [cause];
  if (catching.isFirst && OF_ITS_FIRST_MINUTE.includes(cause.code)) return [];
  if (!OF_A_PAUSE.includes(cause.code)) return [cause];
  const text = `${cause.text}; catching up after a pause of ${spanWords(catching.pausedMs / 1000)}`;
  return [{ ...cause, severity: 'warning', text }];
}

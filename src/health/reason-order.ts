// The order of reasons: what stops customers comes first, and a cause comes before what follows from it. Used by
// health-reasons.ts. Pure.
import type { HealthReason, ReasonCode } from './reason.ts';

/** Customers are cut off, or are about to be. */
const OF_CUSTOMERS: readonly ReasonCode[] = [
  'stop_surge',
  'usage_jump',
  'implausible_readings',
  'readings_dead',
];

/** What follows where more comes due than is polled. */
const TOO_FEW_POLLS: readonly ReasonCode[] = [
  ...(['nothing_polled', 'queue_backlog', 'concurrency_usage', 'interval_missed'] as const),
  ...(['limit_reduced', 'overloaded'] as const),
];
const SLOW_POLLS: readonly ReasonCode[] = [...TOO_FEW_POLLS, 'success_rate', 'avg_duration', 'polls_held'];
/**
 * What follows from a cause: reasons of the same task type, or of all types where the cause is that of the fleet. Of several
 * causes the first counts.
 */
const CAUSES: ReadonlyArray<readonly [cause: ReasonCode, follows: readonly ReasonCode[]]> = [
  ['no_worker', SLOW_POLLS],
  ['no_scheduler', TOO_FEW_POLLS],
  ['database_outage', [...SLOW_POLLS, 'database_slow']],
  ['own_cpu', [...SLOW_POLLS, 'gateway_slow', 'redis_slow', 'database_slow']],
  ['redis_slow', [...SLOW_POLLS, 'gateway_slow']],
  ['database_slow', [...SLOW_POLLS, 'gateway_slow']],
  ['not_in_force', TOO_FEW_POLLS],
  ['paused', TOO_FEW_POLLS],
  ['breaker_open', [...SLOW_POLLS, 'gateway_slow']],
  ['gateway_slow', SLOW_POLLS],
  ['carrier_failing', ['success_rate']],
  ['pace_short', TOO_FEW_POLLS],
  ['overloaded', TOO_FEW_POLLS],
  ['usage_jump', ['stops_held']],
];

/** @returns the reasons with their causes, each after its cause, the worst causes first. */
export function inOrder(reasons: readonly HealthReason[]): HealthReason[] {
  const linked = reasons.map((reason) => ({ reason, cause: causeOf(reason, reasons) }));
  const groups = linked
    .filter(({ cause }) => cause === null)
    .map(({ reason }) => {
      const follows = linked.flatMap((one) =>
        one.cause === reason ? { ...one.reason, causedBy: reason.code } : [],
      );
      return [{ ...reason, causedBy: null }, ...bySeverity(follows)];
    });
  return groups.sort((a, b) => rankOf(a) - rankOf(b)).flat();
}

function causeOf(reason: HealthReason, all: readonly HealthReason[]): HealthReason | null {
  for (const [code, follows] of CAUSES) {
    if (code === reason.code) return null;
    if (!follows.includes(reason.code)) continue;
    const cause = all.find(
      (one) => one.code === code && (one.taskType ?? reason.taskType) === reason.taskType,
    );
    if (cause !== undefined) return cause;
  }
  return null;
}

/** By the worst of a group; among alerts, and among warnings, customers come first. */
function rankOf(group: readonly HealthReason[]): number {
  const isAlert = group.some(({ severity }) => severity === 'alert');
  const isOfCustomers = group.some(({ code }) => OF_CUSTOMERS.includes(code));
  return (isAlert ? 0 : 2) + (isOfCustomers ? 0 : 1);
}

function bySeverity(reasons: readonly HealthReason[]): HealthReason[] {
  const alerts = reasons.filter(({ severity }) => severity === 'alert');
  return [...alerts, ...reasons.filter(({ severity }) => severity !== 'alert')];
}

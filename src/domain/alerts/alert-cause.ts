// Why a rule fires, in the words of `cardpoll stats`: the reasons of health. Made by the statistics; the evaluator writes an
// alert's cause into the history, and its messages show it. Pure.
import type { FaultKind } from '../gateway-fault.ts';
import { groupBy } from '../group-by.ts';
import { HEALTH_LEVELS, worst } from '../health.ts';
import { reasonRow } from '../reasons.ts';

/** A reason of health (src/health) at the time when the alert fired. */
export interface AlertCause {
  /** Its section in docs/runbook.md. */
  readonly code: string;
  readonly severity: 'warning' | 'alert';
  /** One sentence without a full stop. */
  readonly text: string;
  readonly command: string | null;
  /** How calls fail, if they do; absent or null: the code is complete. */
  readonly kind?: FaultKind | null | undefined;
}

/** A cause and the time of its start. */
export interface DatedCause extends AlertCause {
  /** null: unknown. */
  readonly since: Date | null;
}

/** A reason in the order of health (src/health/reason-order.ts). */
export interface OrderedCause extends DatedCause {
  /** The cause that it follows from; itself, if it is a root cause. */
  readonly root: DatedCause;
  /** A warning that the receivers of alerts get once: a pause of an operator that may be forgotten. Absent: it is none. */
  readonly reminds?: true;
}

/** Two causes are the same if calls fail in the same way, even with different codes; otherwise if the codes are equal. */
export function causeKey({ code, kind }: Pick<AlertCause, 'code' | 'kind'>): string {
  return kind ?? code;
}

/** The health level of the reasons that no other rule covers. */
export function levelOf(
  reasons: ReadonlyArray<AlertCause & Pick<OrderedCause, 'reminds'>>,
  covered: readonly string[],
): number {
  const own = reasons.filter(({ code }) => !covered.includes(code));
  return HEALTH_LEVELS[worst(own.map((one) => (firesAsAlert(one) ? 'alert' : one.severity)))];
}

function firesAsAlert({ severity, reminds }: Pick<OrderedCause, 'severity' | 'reminds'>): boolean {
  return severity === 'alert' || reminds === true;
}

/**
 * The root causes of a rule's alert, without their consequences. Each cause once, the first in the order of health first; empty
 * if no reason explains the alert. For the rule, an alert is as severe as the worst consequence.
 */
export function causesOf(
  ruleType: string,
  reasons: readonly OrderedCause[],
  covered: readonly string[],
): readonly DatedCause[] {
  const reasonsOf = groupBy(behind(ruleType, reasons, covered), ({ root }) => causeKey(root));
  return [...reasonsOf.values()].map((group): DatedCause => {
    const { code, kind = null, text, command, since } = group[0].root;
    const severity = group.some((one) => one.severity === 'alert') ? 'alert' : 'warning';
    return { code, kind, severity, text, command, since };
  });
}

/** The reasons that make the rule fire. */
function behind(
  ruleType: string,
  reasons: readonly OrderedCause[],
  covered: readonly string[],
): readonly OrderedCause[] {
  if (ruleType === 'polling_stalled')
    return reasons.filter(({ code }) => reasonRow(code).concerns === 'polls');
  if (ruleType !== 'health') return reasons.filter(({ code }) => code === ruleType);
  const own = reasons.filter(({ code }) => !covered.includes(code));
  const alerts = own.filter(firesAsAlert);
  return alerts.length === 0 ? own : alerts;
}

export function isLate(cause: Pick<AlertCause, 'code'> | null): boolean {
  return cause !== null && reasonRow(cause.code).isLate === true;
}

// Why a rule fires, in the words that `cardpoll stats` has for it: the reasons of health. Used by the statistics, which give them, by the
// evaluator, which writes the one of an alert into the history, and by its messages. Pure.
import type { FaultKind } from '../gateway-fault.ts';
import { groupBy } from '../group-by.ts';
import { HEALTH_LEVELS, worst } from '../health.ts';
import { reasonRow } from '../reasons.ts';

/** A reason of health (src/health), as it was when the alert fired. */
export interface AlertCause {
  /** Its section in docs/runbook.md. */
  readonly code: string;
  readonly severity: 'warning' | 'alert';
  /** One sentence without a full stop. */
  readonly text: string;
  readonly command: string | null;
  /** How calls fail, where they do; absent or null: the code says all. */
  readonly kind?: FaultKind | null | undefined;
}

/** A cause with its beginning. */
export interface DatedCause extends AlertCause {
  /** null: not known. */
  readonly since: Date | null;
}

/** A reason in the order of health (src/health/reason-order.ts). */
export interface OrderedCause extends DatedCause {
  /** What it follows from; itself, where it is a cause. */
  readonly root: DatedCause;
}

/** Causes are the same where calls fail in the same way, whatever reason shows it; otherwise by their code. */
export function causeKey({ code, kind }: Pick<AlertCause, 'code' | 'kind'>): string {
  return kind ?? code;
}

/** The level of health of the reasons that no other rule covers. */
export function levelOf(reasons: readonly AlertCause[], covered: readonly string[]): number {
  const own = reasons.filter(({ code }) => !covered.includes(code));
  return HEALTH_LEVELS[worst(own.map(({ severity }) => severity))];
}

/**
 * What is behind the alert of a rule: what others follow from, not what follows. Each cause once, the first in the order of health first;
 * empty where no reason says it. For the rule an alert is as bad as the worst of what follows from it.
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
  const alerts = own.filter(({ severity }) => severity === 'alert');
  return alerts.length === 0 ? own : alerts;
}

export function isLate(cause: Pick<AlertCause, 'code'> | null): boolean {
  return cause !== null && reasonRow(cause.code).isLate === true;
}

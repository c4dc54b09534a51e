// Why a rule fires, in the words that `cardpoll stats` has for it: the reasons of health. Used by the statistics, which give them, by the
// evaluator, which writes the one of an alert into the history, and by its messages. Pure.
import type { FaultKind } from '../gateway-fault.ts';
import { groupBy } from '../group-by.ts';
import { HEALTH_LEVELS, worst } from '../health.ts';

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

/** Rule types that are the reasons of the same name. Where one of them tells somebody, `health` does not tell it once more. */
export const TOLD_APART: readonly string[] = ['stop_surge', 'over_running'];

/**
 * Reasons that exist only after the fault has lasted for a minute: a rule need not wait as long again. After an outage of the stores
 * the others are there for a moment although it is over.
 */
const LATE: readonly string[] = ['init_stuck'];

/** Reasons that do not keep cards from being polled: about stops, readings, cards without a config, and upkeep. */
const NOT_OF_POLLS: readonly string[] = [
  ...['stop_surge', 'usage_jump', 'implausible_readings', 'readings_dead', 'stops_held', 'stop_unconfirmed'],
  ...[
    'over_running',
    'stopped_within',
    'cards_unselected',
    'counters_in_doubt',
    'part_failing',
    'certificate_expires',
  ],
];

/** The level of health of the reasons without those that rules of their own tell. */
export function levelOf(reasons: readonly AlertCause[], toldApart: readonly string[]): number {
  const own = reasons.filter(({ code }) => !toldApart.includes(code));
  return HEALTH_LEVELS[worst(own.map(({ severity }) => severity))];
}

/**
 * What is behind the alert of a rule: what others follow from, not what follows. Each cause once, the first in the order of health first;
 * empty where no reason says it. For the rule an alert is as bad as the worst of what follows from it.
 */
export function causesOf(
  ruleType: string,
  reasons: readonly OrderedCause[],
  toldApart: readonly string[],
): readonly DatedCause[] {
  const reasonsOf = groupBy(behind(ruleType, reasons, toldApart), ({ root }) => causeKey(root));
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
  toldApart: readonly string[],
): readonly OrderedCause[] {
  if (ruleType === 'polling_stalled') return reasons.filter(({ code }) => !NOT_OF_POLLS.includes(code));
  if (ruleType !== 'health') return reasons.filter(({ code }) => code === ruleType);
  const own = reasons.filter(({ code }) => !toldApart.includes(code));
  const alerts = own.filter(({ severity }) => severity === 'alert');
  return alerts.length === 0 ? own : alerts;
}

export function isLate(cause: Pick<AlertCause, 'code'> | null): boolean {
  return cause !== null && LATE.includes(cause.code);
}

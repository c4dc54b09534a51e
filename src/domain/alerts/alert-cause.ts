// Why a rule fires, in the words that `cardpoll stats` has for it: the reasons of health. Used by the statistics, which give them, by the
// evaluator, which writes the one of an alert into the history, and by its messages. Pure.
import type { FaultKind } from '../gateway-fault.ts';
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

/** A reason as the statistics order them: causes first, each before what follows from it. */
export interface OrderedCause extends AlertCause {
  readonly causedBy: string | null;
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
  ...['over_running', 'stopped_within', 'cards_unselected', 'part_failing'],
];

/** The level of health of the reasons without those that rules of their own tell. */
export function levelOf(reasons: readonly AlertCause[], toldApart: readonly string[]): number {
  const own = reasons.filter(({ code }) => !toldApart.includes(code));
  return HEALTH_LEVELS[worst(own.map(({ severity }) => severity))];
}

/** The reason behind the alert of a rule: what others follow from, not what follows. @returns null where none says it. */
export function causeOf(
  ruleType: string,
  reasons: readonly OrderedCause[],
  toldApart: readonly string[],
): AlertCause | null {
  const own = reasons.filter(({ code }) => !toldApart.includes(code));
  const found = {
    health: () => own.find(({ severity }) => severity === 'alert') ?? own[0],
    polling_stalled: () => reasons.find(({ code }) => !NOT_OF_POLLS.includes(code)),
  };
  const byName = () => reasons.find(({ code }) => code === ruleType);
  const reason = (ruleType in found ? found[ruleType as keyof typeof found] : byName)();
  if (reason === undefined) return null;
  const root = reasons.find(({ code }) => code === reason.causedBy) ?? reason;
  const { code, severity, text, command } = root;
  return { code, severity, text, command };
}

export function isLate(cause: AlertCause | null): boolean {
  return cause !== null && LATE.includes(cause.code);
}

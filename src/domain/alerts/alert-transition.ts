// When an alert rule fires and resolves. Used by the evaluator (engine/alerts/), which reads the metrics. Pure.
import type { AlertCause } from './alert-cause.ts';
import type { AlertCondition, AlertRuleFields } from './alert-rule.ts';

/** Why an alert ended: its condition ended, or its rule was disabled, changed or deleted. */
export const RESOLUTIONS = ['recovered', 'rule_disabled', 'rule_changed', 'rule_deleted'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** A rule as the evaluator reads it. */
export interface WatchedRule {
  readonly rule: AlertCondition &
    Pick<AlertRuleFields, 'isEnabled' | 'cooldownSeconds'> & {
      /** It has a webhook. */
      readonly notifies: boolean;
    };
  /** Deleted while it fired; it is removed when its alert is resolved. */
  readonly isDeleted: boolean;
  /** The condition at the time when the open alert fired; null: no alert is open. */
  readonly firing: AlertCondition | null;
  /** Milliseconds since the present condition last fired; null: never. */
  readonly sinceFiredMs: number | null;
  /** Codes of the causes that it fired for lately; only these keep quiet until the cooldown has ended. */
  readonly coolingCauses: readonly string[];
}

export type AlertEvent =
  | { readonly kind: 'fired'; readonly value: number; readonly cause?: AlertCause | null }
  | { readonly kind: 'resolved'; readonly value: number | null; readonly resolution: Resolution };

/**
 * @param sample value of the rule's metric; null when there is none
 * @param cause what is behind it; null: not known
 * @returns the transition of the rule, if any
 */
export function nextEvent(
  watched: WatchedRule,
  sample: number | null,
  cause: Pick<AlertCause, 'code'> | null,
): AlertEvent | null {
  const { rule, firing } = watched;
  if (firing !== null) {
    const resolution = resolutionOf(watched, firing, sample);
    if (resolution === null) return null;
    // After a change of the rule the sample may belong to another metric.
    return { kind: 'resolved', value: resolution === 'rule_changed' ? null : sample, resolution };
  }
  if (!rule.isEnabled || watched.isDeleted || sample === null || !holds(rule, sample)) return null;
  const { sinceFiredMs, coolingCauses } = watched;
  // A gateway that is dead a minute after it was slow is news.
  const isKnown = cause === null || coolingCauses.includes(cause.code);
  // Less than zero: the database's clock was set back, and must not keep the rule quiet until that time comes again.
  const cooling = isKnown && sinceFiredMs !== null && Math.abs(sinceFiredMs) < rule.cooldownSeconds * 1000;
  return cooling ? null : { kind: 'fired', value: sample };
}

function resolutionOf(
  { rule, isDeleted }: WatchedRule,
  firing: AlertCondition,
  sample: number | null,
): Resolution | null {
  if (isDeleted) return 'rule_deleted';
  if (!rule.isEnabled) return 'rule_disabled';
  if (!asksTheSame(rule, firing)) return 'rule_changed';
  return sample === null || holds(rule, sample) ? null : 'recovered';
}

/** Another threshold keeps the condition the same; another metric, task type or comparison does not. */
function asksTheSame(a: AlertCondition, b: AlertCondition): boolean {
  return a.ruleType === b.ruleType && a.taskType === b.taskType && a.comparison === b.comparison;
}

export function holds({ comparison, threshold }: AlertCondition, sample: number): boolean {
  return comparison === '>' ? sample > threshold : sample < threshold;
}

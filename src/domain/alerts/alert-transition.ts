// Decides when an alert rule fires and resolves, and when its alert gets another cause. Used by the evaluator (engine/alerts/),
// which reads the metrics. Pure.
import { type AlertCause, causeKey, type DatedCause } from './alert-cause.ts';
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
  /** Milliseconds since the current condition last fired; null: never. */
  readonly sinceFiredMs: number | null;
  /** Keys of the causes (causeKey) that it reported recently; only these are suppressed during the cooldown. */
  readonly coolingCauses: readonly string[];
  /** The causes that the open alert has reported, the current one first; empty: no open alert, or no known cause. */
  readonly reportedCauses: readonly CauseId[];
}

type CauseId = Pick<AlertCause, 'code' | 'kind'>;

export type AlertEvent =
  | { readonly kind: 'fired'; readonly value: number; readonly cause?: DatedCause | null }
  /** `isNews`: the alert has not reported this cause yet. */
  | { readonly kind: 'changed'; readonly cause: DatedCause; readonly isNews: boolean }
  | { readonly kind: 'resolved'; readonly value: number | null; readonly resolution: Resolution };

/**
 * @param sample value of the rule's metric; null: none
 * @param causes root causes, the first in the order of health first; empty: unknown
 * @param canExplain whether a cause can have caused another one
 * @returns the transition of the rule, if any
 */
export function nextEvent(
  watched: WatchedRule,
  sample: number | null,
  causes: readonly DatedCause[],
  canExplain: (cause: CauseId, other: CauseId) => boolean,
): AlertEvent | null {
  const { rule, firing } = watched;
  if (firing !== null) {
    const resolution = resolutionOf(watched, firing, sample);
    if (resolution === null) return changeOf(watched, sample, causes, canExplain);
    // After a change of the rule the sample may belong to another metric.
    return { kind: 'resolved', value: resolution === 'rule_changed' ? null : sample, resolution };
  }
  if (!rule.isEnabled || watched.isDeleted || sample === null || !holds(rule, sample)) return null;
  const { sinceFiredMs, coolingCauses } = watched;
  // A gateway that is dead a minute after it was slow is news.
  const [cause] = causes;
  const isKnown = cause === undefined || coolingCauses.includes(causeKey(cause));
  // Less than zero: the database's clock was set back, which must not extend the cooldown.
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

/**
 * A cause is reported once while its alert is open. Leftovers of the current cause, such as a backlog after an outage, are not
 * reported; another kind of failing calls is. A pause that is over leaves nothing behind, and nothing excuses for long that no card
 * is polled.
 */
function changeOf(
  { rule, reportedCauses }: WatchedRule,
  sample: number | null,
  causes: readonly DatedCause[],
  canExplain: (cause: CauseId, other: CauseId) => boolean,
): AlertEvent | null {
  const [present] = reportedCauses;
  if (present === undefined || sample === null || !holds(rule, sample)) return null;
  const isReported = (cause: CauseId) => reportedCauses.some((one) => causeKey(one) === causeKey(cause));
  const isPresent = causes.some((cause) => causeKey(cause) === causeKey(present));
  const isLeftBehind = (cause: CauseId) =>
    (cause.kind ?? null) === null &&
    canExplain(present, cause) &&
    (isPresent || (present.code !== 'paused' && cause.code !== 'nothing_polled'));
  const news = causes.find((cause) => !isReported(cause) && !isLeftBehind(cause));
  if (news !== undefined) return { kind: 'changed', cause: news, isNews: true };
  if (isPresent) return null;
  const again = causes.find(isReported);
  return again === undefined ? null : { kind: 'changed', cause: again, isNews: false };
}

/** Another threshold keeps the condition the same; another metric, task type or comparison does not. */
function asksTheSame(a: AlertCondition, b: AlertCondition): boolean {
  return a.ruleType === b.ruleType && a.taskType === b.taskType && a.comparison === b.comparison;
}

export function holds({ comparison, threshold }: AlertCondition, sample: number): boolean {
  switch (comparison) {
    case '>':
      return sample > threshold;
    case '<':
      return sample < threshold;
  }
}

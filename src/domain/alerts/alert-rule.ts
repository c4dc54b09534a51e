// Alert rules and the one decision about them: does a rule fire or resolve now? Used by operations (what a rule may
// hold), the alert evaluator (the decision) and the stores (the shapes). Knows no clock and no store.
//
// A rule is quiet or firing. It goes from quiet to firing when its condition holds, and back when the condition holds no
// longer; each way makes one event, however long the state lasts. After a firing the rule stays quiet for the rest of
// its cooldown, so that a metric at its threshold does not fire with every swing. Without a sample nothing is known and
// nothing changes.
import { AVG_DURATION_MS, QUEUE_LENGTH, SUCCESS_RATE } from '../health.ts';
import type { TaskMetrics } from '../stats/task-metrics.ts';
import type { TaskType } from '../task-type.ts';

/** Unconfirmed stops are counted up to here: the count stays cheap when a whole fleet's stops are without effect. */
export const UNCONFIRMED_STOPS_COUNTED = 10_000;

export const COMPARISONS = ['>', '<'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** Of fewer polls in five minutes no success rate is told: one that fails in an idle hour is no news. */
const LEAST_POLLS = 10;

/** What rules can watch of one task type. */
interface RuleMetrics extends TaskMetrics {
  /** Null unless a rule whose type `countsStops` is evaluated. */
  readonly unconfirmedStops: number | null;
}

interface RuleTypeFacts {
  /** Name of the rules recommended for each task type (operations interface, section 2.3); null: none is. */
  readonly recommended: string | null;
  /** What a rule watches for unless its author says otherwise. */
  readonly usual: { readonly comparison: Comparison; readonly threshold: number };
  /** Bounds of a threshold; `max` null: none. */
  readonly bounds: { readonly min: number; readonly max: number | null };
  /** Stands behind a threshold. */
  readonly unit: '' | ' %' | ' ms';
  /** The only task type it can watch; null: any. */
  readonly onlyFor: TaskType | null;
  /** Its metric is read from the records, where counting costs a query. */
  readonly countsStops: boolean;
  /** The metric it watches; null without a sample. */
  readonly sample: (metrics: RuleMetrics) => number | null;
}

const TABLE = {
  queue_backlog: {
    recommended: 'Queue backlog',
    usual: { comparison: '>', threshold: QUEUE_LENGTH.alertAbove },
    bounds: { min: 0, max: null },
    unit: '',
    onlyFor: null,
    countsStops: false,
    sample: ({ queueLength }) => queueLength,
  },
  success_rate: {
    recommended: 'Success rate',
    usual: { comparison: '<', threshold: SUCCESS_RATE.alertBelow },
    bounds: { min: 0, max: 100 },
    unit: ' %',
    onlyFor: null,
    countsStops: false,
    sample: ({ polls, successRate }) => (polls < LEAST_POLLS ? null : successRate),
  },
  avg_duration: {
    recommended: 'Average duration',
    usual: { comparison: '>', threshold: AVG_DURATION_MS.alertAbove },
    bounds: { min: 0, max: null },
    unit: ' ms',
    onlyFor: null,
    countsStops: false,
    sample: ({ avgDurationMs }) => avgDurationMs,
  },
  // Any unconfirmed stop is one too many, and only package polls stop cards.
  stop_unconfirmed: {
    recommended: null,
    usual: { comparison: '>', threshold: 0 },
    bounds: { min: 0, max: UNCONFIRMED_STOPS_COUNTED - 1 },
    unit: '',
    onlyFor: 'package',
    countsStops: true,
    sample: ({ unconfirmedStops }) => unconfirmedStops,
  },
} as const satisfies Readonly<Record<string, RuleTypeFacts>>;

export type RuleType = keyof typeof TABLE;

/** THE table of rule types. */
export const RULE_TYPE_FACTS: Readonly<Record<RuleType, RuleTypeFacts>> = TABLE;
export const RULE_TYPES = Object.keys(TABLE) as readonly RuleType[];

export const NOTIFY_CHANNELS = ['webhook'] as const;
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number];

export const NOTIFICATION_EVENTS = ['alert.fired', 'alert.resolved'] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** pending: not sent yet, or to be sent again. silenced: never sent, the alert was over before its silence was. */
export const NOTIFICATION_STATUSES = ['pending', 'delivered', 'failed', 'silenced'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/** Fires when the metric of its types `comparison` threshold holds (operations interface, section 2.3). */
export interface AlertCondition {
  readonly ruleType: RuleType;
  readonly taskType: TaskType;
  readonly comparison: Comparison;
  /** Cards, percent, milliseconds or stops, as the rule type has it. */
  readonly threshold: number;
}

/** What an operator says about a rule. */
export interface AlertRuleFields extends AlertCondition {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly notifyChannels: readonly NotifyChannel[];
  readonly webhookUrl: string | null;
  /** Keys that sign its webhooks, the newest first; empty: those of the configuration do. */
  readonly webhookSecrets: readonly string[];
  /** For this long after a firing the rule does not fire again. */
  readonly cooldownSeconds: number;
}

export interface AlertRule extends AlertRuleFields {
  readonly id: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const RULE_NAME_MAX_LENGTH = 100;
export const DEFAULT_COOLDOWN_SECONDS = 300;
export const COOLDOWN_SECONDS_BOUNDS = { min: 0, max: 604_800 } as const;

export function ruleTypeFits(ruleType: RuleType, taskType: TaskType): boolean {
  const { onlyFor } = RULE_TYPE_FACTS[ruleType];
  return onlyFor === null || onlyFor === taskType;
}

export function holds({ comparison, threshold }: AlertCondition, sample: number): boolean {
  return comparison === '>' ? sample > threshold : sample < threshold;
}

/** Why an alert is over: its condition ended, or somebody ended the watching. */
export const RESOLUTIONS = ['recovered', 'rule_disabled', 'rule_changed', 'rule_deleted'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** Of an alert. */
export const ALERT_STATES = ['firing', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** A rule as the evaluator finds it. */
export interface WatchedRule {
  readonly rule: AlertCondition & Pick<AlertRuleFields, 'isEnabled' | 'cooldownSeconds'>;
  /** Deleted while it fired; it goes when its alert is resolved. */
  readonly isDeleted: boolean;
  /** The condition as it was when the alert fired that is open now; null: none is open. */
  readonly firing: AlertCondition | null;
  /** Milliseconds since the present condition fired last; null: never. */
  readonly sinceFiredMs: number | null;
}

export type AlertEvent =
  | { readonly kind: 'fired'; readonly value: number }
  | { readonly kind: 'resolved'; readonly value: number | null; readonly resolution: Resolution };

/** @param sample of the rule's metric; null when there is none. @returns what happens to the rule now, if anything. */
export function nextEvent(watched: WatchedRule, sample: number | null): AlertEvent | null {
  const { rule, firing } = watched;
  if (firing !== null) {
    const resolution = resolutionOf(watched, firing, sample);
    if (resolution === null) return null;
    // The sample of a changed rule may be another metric's.
    return { kind: 'resolved', value: resolution === 'rule_changed' ? null : sample, resolution };
  }
  if (!rule.isEnabled || watched.isDeleted || sample === null || !holds(rule, sample)) return null;
  const { sinceFiredMs } = watched;
  const cooling = sinceFiredMs !== null && sinceFiredMs < rule.cooldownSeconds * 1000;
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

/** A moved threshold is still the same question; another metric, task type or direction is not. */
function asksTheSame(a: AlertCondition, b: AlertCondition): boolean {
  return a.ruleType === b.ruleType && a.taskType === b.taskType && a.comparison === b.comparison;
}

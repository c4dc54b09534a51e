// Alert rules, and the table of their types: which metric a type watches, and its usual condition. Whether a rule fires or resolves is
// decided in alert-transition.ts. Used by operations (to validate rules), the alert evaluator and the stores (the shapes). Knows no
// clock and no store.
import { AVG_DURATION_MS, HEALTH_LEVELS, QUEUE_LENGTH, SUCCESS_RATE } from '../health.ts';
import type { TaskMetrics } from '../stats/task-metrics.ts';
import { OVER_RUNNING_COUNTED, STOPS_COUNTED, UNCONFIRMED_STOPS_COUNTED } from '../stops/stop.ts';
import type { TaskType } from '../task-type.ts';
import { levelOf, type OrderedCause } from './alert-cause.ts';

export const COMPARISONS = ['>', '<'] as const;
type Comparison = (typeof COMPARISONS)[number];

/** With fewer polls there is no success rate: one failure in an idle hour must not fire a rule. */
const LEAST_POLLS = 10;

/**
 * What rules watch of a task type besides its polls. Made by the statistics (operations/stats), so that a rule judges what
 * `cardpoll stats` shows; read by the evaluator.
 */
export interface TaskCondition {
  /**
   * Of the task type and of the whole fleet, without `concurrency_usage`: a backlog that drains uses the whole limit.
   */
  readonly reasons: readonly OrderedCause[];
  /** How long the oldest breaker has held its calls back, without a success; 0: none does. */
  readonly breakerOpenSeconds: number;
  /** Or was a moment ago. */
  readonly pausedByOperator: boolean;
}

export type TaskConditions = Readonly<Record<TaskType, TaskCondition>>;

/** What rules can watch of one task type. */
interface RuleMetrics extends TaskMetrics {
  /** Each is null unless a rule whose type counts it is evaluated. */
  readonly unconfirmedStops: number | null;
  readonly heldStops: number | null;
  readonly overRunning: number | null;
  readonly condition: TaskCondition | null;
  readonly covered: readonly string[];
}

interface RuleTypeFacts {
  /** Name of the rules recommended for each task type that it can watch; null: none. One rule for a cause. */
  readonly recommended: string | null;
  /** Its webhook does not wait for others. */
  readonly urgent: boolean;
  /** Default condition of a rule. */
  readonly usual: { readonly comparison: Comparison; readonly threshold: number };
  /** Bounds of a threshold; `max` null: none. */
  readonly bounds: { readonly min: number; readonly max: number | null };
  /** What an operator types first when it fires. */
  readonly command: string;
  /** Printed after a threshold. */
  readonly unit: '' | ' %' | ' ms' | ' s';
  /** The only task type it can watch; null: any. */
  readonly onlyFor: TaskType | null;
  /** What it watches in addition to the polls; reading it costs queries. */
  readonly reads: 'unconfirmedStops' | 'heldStops' | 'overRunning' | 'condition' | null;
  /** The rule fires when its condition has held in every pass of this time, milliseconds. */
  readonly holdsForMs: number;
  /** The metric it watches; null without a sample. */
  readonly sample: (metrics: RuleMetrics) => number | null;
}

/** What most rule types have: they watch the polls of any task type, and fire at once. */
const PLAIN = {
  ...({ recommended: null, urgent: false } as const),
  ...({ unit: '', onlyFor: null, reads: null, holdsForMs: 0 } as const),
};

const TABLE = {
  queue_backlog: {
    ...PLAIN,
    command: 'cardpoll stats',
    usual: { comparison: '>', threshold: QUEUE_LENGTH.alertAbove },
    bounds: { min: 0, max: null },
    sample: ({ queueLength }) => queueLength,
  },
  success_rate: {
    ...PLAIN,
    command: 'cardpoll stats failures',
    usual: { comparison: '<', threshold: SUCCESS_RATE.alertBelow },
    bounds: { min: 0, max: 100 },
    unit: ' %',
    sample: ({ polls, held, successRate }) => (polls - held < LEAST_POLLS ? null : successRate),
  },
  avg_duration: {
    ...PLAIN,
    command: 'cardpoll concurrency advise',
    usual: { comparison: '>', threshold: AVG_DURATION_MS.alertAbove },
    bounds: { min: 0, max: null },
    unit: ' ms',
    sample: ({ avgDurationMs }) => avgDurationMs,
  },
  // A single unconfirmed stop is too many, and only package polls stop cards.
  stop_unconfirmed: {
    ...PLAIN,
    recommended: 'Stops without effect',
    command: 'cardpoll stops --state requested',
    usual: { comparison: '>', threshold: 0 },
    bounds: { min: 0, max: UNCONFIRMED_STOPS_COUNTED - 1 },
    onlyFor: 'package',
    reads: 'unconfirmedStops',
    sample: ({ unconfirmedStops }) => unconfirmedStops,
  },
  stops_held: {
    ...PLAIN,
    recommended: 'Stops held',
    command: 'cardpoll stops --state held',
    usual: { comparison: '>', threshold: 0 },
    bounds: { min: 0, max: STOPS_COUNTED - 1 },
    onlyFor: 'package',
    reads: 'heldStops',
    sample: ({ heldStops }) => heldStops,
  },
  // A single card that runs over its package is too many. null: no walk over all cards has ended in this month.
  over_running: {
    ...PLAIN,
    recommended: 'Over package and running',
    command: 'cardpoll stats',
    usual: { comparison: '>', threshold: 0 },
    bounds: { min: 0, max: OVER_RUNNING_COUNTED - 1 },
    onlyFor: 'package',
    reads: 'overRunning',
    sample: ({ overRunning }) => overRunning,
  },
  // Customers are being cut off: it fires at once, and its webhook waits for nothing.
  stop_surge: {
    ...PLAIN,
    recommended: 'Many stops',
    urgent: true,
    command: "cardpoll stops mode observe --reason 'too many stops'",
    usual: { comparison: '>', threshold: 0 },
    bounds: { min: 0, max: 0 },
    onlyFor: 'package',
    reads: 'condition',
    sample: ({ condition }) =>
      condition && Number(condition.reasons.some(({ code }) => code === 'stop_surge')),
  },
  // Polls that are held back do not fail, so the success rate does not show an outage: these three do, within a minute.
  polling_stalled: {
    ...PLAIN,
    command: 'cardpoll stats',
    usual: { comparison: '<', threshold: 25 },
    bounds: { min: 0, max: 100 },
    unit: ' %',
    reads: 'condition',
    // A fleet that has just started polls nothing in its first seconds.
    holdsForMs: 15_000,
    // What an operator has paused is not stalled.
    sample: ({ polledPercent, condition }) => (condition?.pausedByOperator === false ? polledPercent : null),
  },
  breaker_open: {
    ...PLAIN,
    command: 'cardpoll stats failures',
    usual: { comparison: '>', threshold: 15 },
    bounds: { min: 0, max: null },
    unit: ' s',
    reads: 'condition',
    sample: ({ condition }) => condition?.breakerOpenSeconds ?? null,
  },
  health: {
    ...PLAIN,
    recommended: 'Health',
    command: 'cardpoll stats',
    usual: { comparison: '>', threshold: HEALTH_LEVELS.warning },
    bounds: { min: HEALTH_LEVELS.normal, max: HEALTH_LEVELS.warning },
    reads: 'condition',
    holdsForMs: 15_000,
    sample: ({ condition, covered }) => (condition === null ? null : levelOf(condition.reasons, covered)),
  },
} as const satisfies Readonly<Record<string, RuleTypeFacts>>;

export type RuleType = keyof typeof TABLE;

/** THE table of rule types. */
export const RULE_TYPE_FACTS: Readonly<Record<RuleType, RuleTypeFacts>> = TABLE;
export const RULE_TYPES = Object.keys(TABLE) as readonly RuleType[];

export const NOTIFY_CHANNELS = ['webhook'] as const;
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number];

export const NOTIFICATION_EVENTS = ['alert.fired', 'alert.changed', 'alert.resolved'] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** pending: not sent yet, or waiting for a retry. silenced: never sent, because the alert ended before its silence. */
export const NOTIFICATION_STATUSES = ['pending', 'delivered', 'failed', 'silenced'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/** Fires when the metric of its types `comparison` threshold holds (operations interface, section 2.3). */
export interface AlertCondition {
  readonly ruleType: RuleType;
  readonly taskType: TaskType;
  readonly comparison: Comparison;
  /** In the unit of the rule type: cards, percent, milliseconds, seconds, stops, or a level of health. */
  readonly threshold: number;
}

/** The part of a rule that an operator writes. */
export interface AlertRuleFields extends AlertCondition {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly notifyChannels: readonly NotifyChannel[];
  readonly webhookUrl: string | null;
  /** Keys that sign its webhooks, the newest first; empty: the keys of the configuration, which only standard messages use. */
  readonly webhookSecrets: readonly string[];
  /** Name of a receiver, or `standard`; null: by the host of the URL. */
  readonly webhookFormat: string | null;
  /** Its webhooks wait for WEBHOOK_GROUP_MS and go out in one message with those of other such rules. */
  readonly webhookGrouped: boolean;
  /** The rule does not fire again for this long after a firing, but for another cause. */
  readonly cooldownSeconds: number;
}

export interface AlertRule extends AlertRuleFields {
  readonly id: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/**
 * How long a grouped webhook waits for others: a dead gateway makes most of its alerts in this time, half a minute after its
 * death. The message is to arrive within a minute.
 */
export const WEBHOOK_GROUP_MS = 15_000;
export const RULE_NAME_MAX_LENGTH = 100;
export const DEFAULT_COOLDOWN_SECONDS = 300;
export const COOLDOWN_SECONDS_BOUNDS = { min: 0, max: 604_800 } as const;

export function ruleTypeFits(ruleType: RuleType, taskType: TaskType): boolean {
  const { onlyFor } = RULE_TYPE_FACTS[ruleType];
  return onlyFor === null || onlyFor === taskType;
}

export const ALERT_STATES = ['firing', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

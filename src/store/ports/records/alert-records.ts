// Port section of record-store.ts: alert rules, what they fired, and the webhook notifications still to be delivered.
// One writer decides (the evaluator on the leader); every method is safe when two instances call it at once. The
// database's clock decides what is due and how long something is ago.
import type {
  AlertCondition,
  AlertEvent,
  AlertRule,
  AlertRuleFields,
  AlertState,
  NotificationEvent,
  NotificationStatus,
  NotifyChannel,
  Resolution,
  RuleType,
  WatchedRule,
} from '../../../domain/alerts/alert-rule.ts';
import type { Silence, SilenceScope } from '../../../domain/alerts/alert-silence.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** One stretch of a longer list. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface SliceOf<Item> {
  readonly items: readonly Item[];
  /** Of the whole list. */
  readonly total: number;
}

/** An alert: from firing to resolution. Condition and name are those of the moment it fired. */
export interface Alert extends AlertCondition {
  readonly id: number;
  readonly ruleId: number;
  readonly ruleName: string;
  /** The metric when it fired. */
  readonly value: number;
  readonly firedAtMs: number;
  /** Null while it fires, as the two below. */
  readonly resolvedAtMs: number | null;
  readonly resolution: Resolution | null;
  /** The metric when it was resolved; null without a sample. */
  readonly resolvedValue: number | null;
}

export interface AlertNotification {
  readonly channel: NotifyChannel;
  readonly event: NotificationEvent;
  /** pending: not sent yet, or to be sent again. */
  readonly status: NotificationStatus;
  /** Begun so far. */
  readonly attempts: number;
  /** Of the last attempt that failed; stays when a later one is delivered. */
  readonly lastError: string | null;
}

export interface AlertHistoryItem extends Alert {
  /** Null before somebody says that he is at it, as the two below. */
  readonly acknowledgedAtMs: number | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgedReason: string | null;
  /** Of one that fires: now; of one that is over: when it was resolved. */
  readonly silenced: boolean;
  readonly notifications: readonly AlertNotification[];
}

/** Null leaves a criterion open. */
export interface HistoryFilter {
  readonly ruleId: number | null;
  readonly state: AlertState | null;
}

/** Alerts that fire now, of one kind. */
export interface FiringCount {
  readonly ruleType: RuleType;
  readonly taskType: TaskType;
  readonly firing: number;
  readonly silenced: number;
  readonly acknowledged: number;
}

export interface RuleToEvaluate extends WatchedRule {
  readonly id: number;
  /** Grows with every change of the rule and of its state. */
  readonly revision: number;
}

/** Something that happens to a rule in the revision it was evaluated in. */
export interface AlertTransition {
  readonly ruleId: number;
  readonly revision: number;
  readonly event: AlertEvent;
}

export interface AppliedTransition {
  readonly kind: AlertEvent['kind'];
  readonly alert: Alert;
}

export interface AlertRecords {
  createRule(fields: AlertRuleFields): Promise<AlertRule>;
  /** By id. Deleted rules are not among them. */
  rules(slice: Slice): Promise<SliceOf<AlertRule>>;
  rule(id: number): Promise<AlertRule | null>;
  /**
   * Changes a rule. Nobody else changes it meanwhile: what `change` makes of it, or that it throws, is about the rule as it
   * is. A changed condition forgets the cooldown. @returns null for an unknown id.
   */
  updateRule(id: number, change: (rule: AlertRule) => AlertRuleFields): Promise<AlertRule | null>;
  /** Its alerts stay in the history; one that is open is resolved by the next evaluation. @returns false for an unknown id. */
  deleteRule(id: number): Promise<boolean>;

  /** Newest first. */
  history(filter: HistoryFilter, slice: Slice): Promise<SliceOf<AlertHistoryItem>>;
  alert(id: number): Promise<AlertHistoryItem | null>;
  /** Notes who is at an alert that fires. One that is over, or that somebody is at, stays as it is. */
  acknowledge(id: number, by: string, reason: string): Promise<void>;
  /** By kind; kinds without any are left out. */
  firing(): Promise<FiringCount[]>;

  /** Every rule that may fire or resolve. */
  toEvaluate(): Promise<RuleToEvaluate[]>;
  /**
   * Makes the transitions durable, all in one statement: state, history and notifications together. A rule that is no
   * longer in its revision (edited, deleted, or evaluated by another instance meanwhile) is left out.
   * @returns those applied.
   */
  apply(transitions: readonly AlertTransition[]): Promise<AppliedTransition[]>;

  readonly webhooks: WebhookOutbox;
  readonly silences: SilenceRecords;
}

export interface NewSilence extends SilenceScope {
  readonly reason: string;
  readonly by: string;
  /** By the database's clock: in so many seconds, or at an instant. */
  readonly ends: { readonly inSeconds: number } | { readonly atMs: number };
}

/** Silences that last; one that is over is not there any more. */
export interface SilenceRecords {
  /** By id. */
  list(): Promise<Silence[]>;
  /** Throws `invalid` for a rule that is not there. */
  create(silence: NewSilence): Promise<Silence>;
  /** Ends it. @returns it as it was; null for an unknown id. */
  remove(id: number): Promise<Silence | null>;
}

/** A notification claimed for one attempt. */
export interface WebhookDelivery {
  readonly id: number;
  /** 1 for the first. */
  readonly attempt: number;
  /** Stays the same over all attempts. */
  readonly messageId: string;
  readonly event: NotificationEvent;
  readonly url: string;
  /** Of the rule, the newest first; empty: those of the configuration sign. */
  readonly secrets: readonly string[];
  readonly alert: Alert;
}

export type DeliveryOutcome =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly retryInMs: number; readonly error: string }
  | { readonly status: 'failed'; readonly error: string };

export interface WebhookOutbox {
  /**
   * Claims due notifications for `leaseMs`, the longest due first: at most `limit` now, and never more than
   * `limitPerUrl` under claim for one URL. Those of an alert are handed out in order: its resolution waits until its firing is delivered or failed.
   * A claim that is not settled ends with its lease, and the notification is due again. The firing of a silenced alert is
   * not handed out before the silence ends, unless an attempt was made before it began.
   */
  claim(request: { limit: number; limitPerUrl: number; leaseMs: number }): Promise<WebhookDelivery[]>;
  /** Ends an attempt. @returns false when the attempt is no longer the present one. */
  settle(delivery: Pick<WebhookDelivery, 'id' | 'attempt'>, outcome: DeliveryOutcome): Promise<boolean>;
  /** Has the notifications of an alert that were given up tried once more, at once. @returns how many. */
  redeliver(alertId: number): Promise<number>;
  /** How many are still to be delivered. */
  pending(): Promise<number>;
}

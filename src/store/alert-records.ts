// Port section of record-store.ts: alert rules, what they fired, and the webhook notifications still to be delivered.
// One writer decides (the evaluator on the leader); every method is safe when two instances call it at once. The
// database's clock decides what is due and how long something is ago.
import type {
  AlertCondition,
  AlertEvent,
  AlertRule,
  AlertRuleFields,
  NotificationEvent,
  NotificationStatus,
  NotifyChannel,
  Resolution,
  WatchedRule,
} from '../domain/alert-rule.ts';

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
  readonly notifications: readonly AlertNotification[];
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
  /** Replaces all fields. A changed condition forgets the cooldown. @returns null for an unknown id. */
  updateRule(id: number, fields: AlertRuleFields): Promise<AlertRule | null>;
  /** Its alerts stay in the history; one that is open is resolved by the next evaluation. @returns false for an unknown id. */
  deleteRule(id: number): Promise<boolean>;

  /** Newest first. @param ruleId null: of all rules. */
  history(ruleId: number | null, slice: Slice): Promise<SliceOf<AlertHistoryItem>>;

  /** Every rule that may fire or resolve. */
  toEvaluate(): Promise<RuleToEvaluate[]>;
  /**
   * Makes the transitions durable, all in one statement: state, history and notifications together. A rule that is no
   * longer in its revision (edited, deleted, or evaluated by another instance meanwhile) is left out.
   * @returns those applied.
   */
  apply(transitions: readonly AlertTransition[]): Promise<AppliedTransition[]>;

  readonly webhooks: WebhookOutbox;
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
  readonly alert: Alert;
}

export type DeliveryOutcome =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly retryInMs: number; readonly error: string }
  | { readonly status: 'failed'; readonly error: string };

export interface WebhookOutbox {
  /**
   * Claims due notifications for `leaseMs`, the longest due first, at most `limit` and at most `limitPerUrl` for one
   * URL. Those of an alert are handed out in order: its resolution waits until its firing is delivered or failed.
   * A claim that is not settled ends with its lease, and the notification is due again.
   */
  claim(request: { limit: number; limitPerUrl: number; leaseMs: number }): Promise<WebhookDelivery[]>;
  /** Ends an attempt. @returns false when the attempt is no longer the present one. */
  settle(delivery: Pick<WebhookDelivery, 'id' | 'attempt'>, outcome: DeliveryOutcome): Promise<boolean>;
}

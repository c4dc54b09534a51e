// Port section of record-store.ts: alert rules, their alerts, and the webhook notifications to deliver. Only the evaluator on the
// leader fires and resolves alerts; every method is safe when two instances call it at once. The database's clock decides due
// times and ages.
import type { AlertCause } from '../../../domain/alerts/alert-cause.ts';
import type {
  AlertRule,
  AlertRuleFields,
  AlertState,
  NotificationEvent,
  NotificationStatus,
  NotifyChannel,
  RuleType,
} from '../../../domain/alerts/alert-rule.ts';
import type { Silence, SilenceScope } from '../../../domain/alerts/alert-silence.ts';
import type { Alert } from '../../../domain/alerts/alert-text.ts';
import type { AlertEvent, WatchedRule } from '../../../domain/alerts/alert-transition.ts';
import type { Slice, SliceOf } from '../../../domain/page.ts';
import type { TaskType } from '../../../domain/task-type.ts';

export interface AlertNotification {
  readonly channel: NotifyChannel;
  readonly event: NotificationEvent;
  /** `pending`: not sent yet, or to be sent again. */
  readonly status: NotificationStatus;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Error of the last failed attempt; kept when a later attempt succeeds. */
  readonly lastError: string | null;
}

export interface AlertHistoryItem extends Alert {
  /** When an operator acknowledged the alert; null before that, like the next two fields. */
  readonly acknowledgedAtMs: number | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgedReason: string | null;
  /** Whether the alert is silenced now or, if it is resolved, whether it was silenced when it was resolved. */
  readonly silenced: boolean;
  readonly notifications: readonly AlertNotification[];
}

/** Which alerts to list; a criterion that is null matches all. */
export interface HistoryFilter {
  readonly ruleId: number | null;
  readonly state: AlertState | null;
  /** Start and end of the time in which the alert fired; absent: at any time. */
  readonly sinceMs?: number | null;
  readonly untilMs?: number | null;
}

/** Number of firing alerts of one rule type and task type. */
interface FiringCount {
  readonly ruleType: RuleType;
  readonly taskType: TaskType;
  readonly firing: number;
  readonly silenced: number;
  readonly acknowledged: number;
}

export interface RuleToEvaluate extends WatchedRule {
  readonly id: number;
  /** Grows with every change of the rule or of its state. */
  readonly revision: number;
}

/** An event of a rule, with the revision in which the rule was evaluated. */
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
  /** @returns rules in order of id, without deleted ones. */
  rules(slice: Slice): Promise<SliceOf<AlertRule>>;
  rule(id: number): Promise<AlertRule | null>;
  /**
   * Changes a rule under a lock: no other change can come between reading the rule, `change`, and the write. A changed condition
   * ends the cooldown. @returns null for an unknown id.
   */
  updateRule(id: number, change: (rule: AlertRule) => AlertRuleFields): Promise<AlertRule | null>;
  /**
   * Deletes a rule. Its alerts stay in the history; the next evaluation resolves a firing one. @returns false for an unknown id.
   */
  deleteRule(id: number): Promise<boolean>;

  /** @returns alerts, newest first. */
  history(filter: HistoryFilter, slice: Slice): Promise<SliceOf<AlertHistoryItem>>;
  alert(id: number): Promise<AlertHistoryItem | null>;
  /** Records who acknowledged a firing alert; the first acknowledgement wins. Has no effect on a resolved alert. */
  acknowledge(id: number, by: string, reason: string): Promise<void>;
  /** @returns the number of firing alerts by rule type and task type; without empty combinations. */
  firing(): Promise<FiringCount[]>;

  /** @returns every rule that may fire or resolve. */
  toEvaluate(): Promise<RuleToEvaluate[]>;
  /**
   * Writes the transitions in one statement: state, history and notifications together. Skips a rule whose revision has
   * changed (it was edited, deleted, or evaluated by another instance meanwhile).
   * @returns the transitions that were applied.
   */
  apply(transitions: readonly AlertTransition[]): Promise<AppliedTransition[]>;

  readonly webhooks: WebhookOutbox;
  readonly silences: SilenceRecords;
  readonly outages: OutageRecords;
}

export interface OutageRecords {
  /**
   * Records an outage of the stores as an alert without a rule, unless one is open already, and adds the notices that were sent
   * without the record store. `notices` null: none was sent; the instance that opens the outage queues one for each receiver of
   * the rules.
   * @returns whether this call opened it; null: another call is opening it right now.
   */
  open(outage: {
    readonly cause: AlertCause;
    readonly beganMsAgo: number;
    readonly notices: readonly OutageNotice[] | null;
  }): Promise<{ readonly id: number; readonly isNew: boolean } | null>;
  /**
   * Ends the open outage if it began at least `leastAgeMs` ago, and queues a notice of its end for each receiver of its
   * beginning.
   * @param okMs how long both stores have answered. @returns whether one was open.
   */
  close(okMs: number, leastAgeMs: number): Promise<boolean>;
}

/** A notification that an instance sent, or tried to send, while the record store was down. */
export interface OutageNotice {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly format: string | null;
  /** A UUID. */
  readonly messageId: string;
  readonly status: 'delivered' | 'pending' | 'failed';
  readonly attempts: number;
  readonly lastError: string | null;
  /** See DeliveryOutcome. */
  readonly answered: boolean;
}

export interface NewSilence extends SilenceScope {
  readonly reason: string;
  readonly by: string;
  /** When the silence ends: in this many seconds by the database's clock, or at a time in epoch milliseconds. */
  readonly ends: { readonly inSeconds: number } | { readonly atMs: number };
}

/** Silences in force. Ended silences are not returned. */
export interface SilenceRecords {
  /** @returns the silences in order of id. */
  list(): Promise<Silence[]>;
  /** @throws CardpollError `invalid` for an unknown rule. */
  create(silence: NewSilence): Promise<Silence>;
  /** Ends a silence. @returns the silence as it was; null for an unknown id. */
  remove(id: number): Promise<Silence | null>;
}

/** A notification claimed for one attempt. */
export interface WebhookDelivery {
  readonly id: number;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The same in all attempts. */
  readonly messageId: string;
  readonly event: NotificationEvent;
  readonly url: string;
  /** Notifications with the same key go out in one message; null: in a separate message. */
  readonly groupKey: string | null;
  /** The rule's signing keys, newest first; if empty, the keys of the configuration sign. */
  readonly secrets: readonly string[];
  /** Name of the receiver template; null: chosen by the host of the URL. */
  readonly format: string | null;
  readonly alert: Alert;
}

export type DeliveryOutcome =
  | { readonly status: 'delivered' }
  | {
      readonly status: 'pending';
      readonly retryInMs: number;
      readonly error: string;
      /** Answered with 2xx but without confirmation: a person may have seen the message. */
      readonly answered: boolean;
    }
  | { readonly status: 'failed'; readonly error: string };

export interface WebhookOutbox {
  /**
   * Claims due notifications for `leaseMs`, the longest due first: at most `limit` messages now, and never more than
   * `limitPerUrl` claimed at the same time for one URL. The notifications of an alert go out in order: its resolution waits until
   * its firing is delivered or has failed; a firing that was answered fails then, instead of waiting for another attempt. A claim
   * that is not settled ends with its lease, and the notification is due again. The firing of a silenced alert is held until the
   * silence ends, unless an attempt was made before the silence began.
   */
  claim(request: { limit: number; limitPerUrl: number; leaseMs: number }): Promise<WebhookDelivery[]>;
  /** Ends an attempt of one message. @returns the ids whose claim the attempt still held. */
  settle(
    deliveries: ReadonlyArray<Pick<WebhookDelivery, 'id' | 'attempt'>>,
    outcome: DeliveryOutcome,
  ): Promise<readonly number[]>;
  /**
   * Makes the failed notifications of an alert due for one more attempt now, at the current URL of its rule.
   * @returns their number.
   */
  redeliver(alertId: number): Promise<number>;
  /** @returns the number of undelivered notifications that will be tried. */
  pending(): Promise<number>;
}

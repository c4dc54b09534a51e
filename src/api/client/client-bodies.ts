// What the admin API sends and takes, as JSON has it: the reports of the operations in wire form, and requests. Used by
// the client and by the code that shows an answer.
import type { TaskType } from '../../domain/task-type.ts';
import type * as alerts from '../../operations/alerts/alert-reports.ts';
import type * as audit from '../../operations/audit-report.ts';
import type * as cards from '../../operations/cards/card-report.ts';
import type * as cleanup from '../../operations/cleanup-report.ts';
import type * as explain from '../../operations/explain/explain.ts';
import type * as health from '../../operations/health/health-report.ts';
import type * as limits from '../../operations/limits/limits-report.ts';
import type * as schedule from '../../operations/schedule/schedule-report.ts';
import type * as stats from '../../operations/stats/stats-report.ts';
import type * as stops from '../../operations/stops/stop-reports.ts';
import type * as triggers from '../../operations/trigger-report.ts';
import type { Wire } from '../../platform/snake-keys.ts';

export type OverviewBody = Wire<stats.Overview>;
export type QueueBody = Wire<stats.QueueStats>;
export type TaskBody = Wire<stats.TaskStats>;
export type HistoryBody = Wire<stats.History>;
export type FailuresBody = Wire<stats.TaskFailures>;
export type ExplanationBody = Wire<explain.CardExplanation>;
export type InitBody = Wire<schedule.InitReport>;
export type InitStateBody = Wire<schedule.InitState>;
export type ConcurrencyBody = Wire<limits.ConcurrencyLimit>;
export type ResetBody = Wire<limits.SlotReset>;
export type PauseBody = Wire<limits.PauseReport>;
export type HealthReasonBody = Wire<health.HealthReason>;
export type ConfigBody = Wire<schedule.ConfigReport>;
export type AlertRuleBody = Wire<alerts.AlertRuleReport>;
export type AlertBody = Wire<alerts.AlertReport>;
export type SilenceBody = Wire<alerts.SilenceReport>;
export type WebhookTrialBody = Wire<alerts.WebhookTrialReport>;
export type RetentionBody = Wire<cleanup.Retention>;
export type CleanupPreviewBody = Wire<cleanup.CleanupPreview>;
export type CleanupProgressBody = Wire<cleanup.CleanupProgress>;
export type TriggerBody = Wire<triggers.TriggerReport>;
export type BatchBody = Wire<triggers.BatchReport>;
export type CancelledTriggersBody = Wire<triggers.CancelledTriggers>;
export type SelectionCountBody = Wire<triggers.SelectionCount>;
export type AuditBody = Wire<audit.AuditItem>;
export type CardBody = Wire<cards.CardReport>;
export type CardListBody = Wire<cards.CardListReport>;
export type ImportBody = Wire<cards.ImportReport>;
export type StopBody = Wire<stops.StopReport>;
export type StopModeBody = Wire<stops.StopModeReport>;
export type ReleaseBody = Wire<stops.ReleaseReport>;
export type DismissBody = Wire<stops.DismissReport>;
export type OrderedStopBody = Wire<stops.OrderedStopReport>;
export type ResumePreviewBody = Wire<stops.ResumePreview>;
export type ResumeRunBody = Wire<stops.ResumeRunReport>;
export interface ItemsBody<Item> {
  readonly items: readonly Item[];
}

export interface PageBody<Item> extends ItemsBody<Item> {
  readonly page: number;
  readonly page_size: number;
  readonly total: number;
}

/** A new alert rule; of a change, the fields it names. */
export interface AlertRuleRequest
  extends Pick<
    AlertRuleBody,
    'name' | 'rule_type' | 'task_type' | 'comparison' | 'threshold' | 'is_enabled' | 'notify_channels'
  > {
  readonly webhook_url?: string | null;
  readonly webhook_secret?: string | null;
  readonly webhook_grouped?: boolean;
  readonly cooldown_seconds?: number;
}

/** A new polling config; of a change, the fields it names. */
export type ConfigRequest = Pick<
  ConfigBody,
  'name' | 'task_type' | 'card_condition' | 'carrier_id' | 'interval_seconds' | 'priority' | 'status'
>;

/** Alerts that have all that is given are silenced for so many seconds. */
export interface SilenceRequest {
  readonly rule_id?: number;
  readonly rule_type?: AlertBody['rule_type'];
  readonly task_type?: TaskType;
  readonly seconds: number;
  readonly reason: string;
}

/** Cards with these attributes; null leaves one open. */
export interface Selection {
  readonly carrier_id: number | null;
  readonly status: number | null;
}

export interface CardQuery extends Selection {
  readonly stopped: boolean | null;
}

export interface ImportQuery {
  readonly dry_run?: boolean;
  readonly accept_over_package?: number;
  readonly ignore_columns: boolean;
  readonly overwrite_verified: boolean;
}

/** What is undefined is left open. */
export interface StopQuery {
  readonly state?: StopBody['state'] | undefined;
  /** RFC 3339. */
  readonly since?: string | undefined;
  readonly carrier_id?: number | undefined;
}

/** Held stops of a list of cards, or all. */
export type HeldSelection = { readonly card_ids: readonly number[] } | { readonly all: true };
/** A list of cards, or what cardpoll stopped since a time. */
export type ResumeSelectionBody =
  | { readonly card_ids: readonly number[] }
  | { readonly since: string; readonly carrier_id?: number };
/** Why cards are resumed, and whether they may be stopped again in the month. */
export interface ResumeOrderBody {
  readonly reason: string;
  readonly stop_again: boolean;
}

export interface WhoamiBody {
  readonly name: string;
  readonly role: string;
}

// What the admin API sends and takes, as JSON has it: the reports of the operations in wire form, and requests. Used by
// the client and by the code that shows an answer.
import type { TaskType } from '../../domain/task-type.ts';
import type {
  AlertReport,
  AlertRuleReport,
  SilenceReport,
  WebhookTrialReport,
} from '../../operations/alerts/alert-reports.ts';
import type { AuditItem } from '../../operations/audit-report.ts';
import type { CardListReport, CardReport, ImportReport } from '../../operations/cards/card-report.ts';
import type { CleanupPreview, CleanupProgress, Retention } from '../../operations/cleanup-report.ts';
import type { CardExplanation } from '../../operations/explain/explain.ts';
import type { HealthReason } from '../../operations/health/health-report.ts';
import type { ConcurrencyLimit, PauseReport, SlotReset } from '../../operations/limits/limits-report.ts';
import type { ConfigReport, InitReport, InitState } from '../../operations/schedule/schedule-report.ts';
import type {
  History,
  Overview,
  QueueStats,
  TaskFailures,
  TaskStats,
} from '../../operations/stats/stats-report.ts';
import type {
  DismissReport,
  OrderedStopReport,
  ReleaseReport,
  ResumePreview,
  ResumeRunReport,
  StopModeReport,
  StopReport,
} from '../../operations/stops/stop-reports.ts';
import type {
  BatchReport,
  CancelledTriggers,
  SelectionCount,
  TriggerReport,
} from '../../operations/trigger-report.ts';
import type { Wire } from '../../platform/snake-keys.ts';

export type OverviewBody = Wire<Overview>;
export type QueueBody = Wire<QueueStats>;
export type TaskBody = Wire<TaskStats>;
export type HistoryBody = Wire<History>;
export type FailuresBody = Wire<TaskFailures>;
export type ExplanationBody = Wire<CardExplanation>;
export type InitBody = Wire<InitReport>;
export type InitStateBody = Wire<InitState>;
export type ConcurrencyBody = Wire<ConcurrencyLimit>;
export type ResetBody = Wire<SlotReset>;
export type PauseBody = Wire<PauseReport>;
export type HealthReasonBody = Wire<HealthReason>;
export type ConfigBody = Wire<ConfigReport>;
export type AlertRuleBody = Wire<AlertRuleReport>;
export type AlertBody = Wire<AlertReport>;
export type SilenceBody = Wire<SilenceReport>;
export type WebhookTrialBody = Wire<WebhookTrialReport>;
export type RetentionBody = Wire<Retention>;
export type CleanupPreviewBody = Wire<CleanupPreview>;
export type CleanupProgressBody = Wire<CleanupProgress>;
export type TriggerBody = Wire<TriggerReport>;
export type BatchBody = Wire<BatchReport>;
export type CancelledTriggersBody = Wire<CancelledTriggers>;
export type SelectionCountBody = Wire<SelectionCount>;
export type AuditBody = Wire<AuditItem>;
export type CardBody = Wire<CardReport>;
export type CardListBody = Wire<CardListReport>;
export type ImportBody = Wire<ImportReport>;
export type StopBody = Wire<StopReport>;
export type StopModeBody = Wire<StopModeReport>;
export type ReleaseBody = Wire<ReleaseReport>;
export type DismissBody = Wire<DismissReport>;
export type OrderedStopBody = Wire<OrderedStopReport>;
export type ResumePreviewBody = Wire<ResumePreview>;
export type ResumeRunBody = Wire<ResumeRunReport>;
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

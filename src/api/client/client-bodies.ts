// The JSON types of the admin API: the reports of the operations in wire form, and requests. Used by the client and by the code
// that shows an answer.
import type { AlertState } from '../../domain/alerts/alert-rule.ts';
import type { Actor } from '../../domain/audit.ts';
import type { CardFilter } from '../../domain/cards/card-filter.ts';
import type { CardSelection } from '../../domain/manual-trigger.ts';
import type { PageRequest, SliceOf } from '../../domain/page.ts';
import type { NewAlertRule } from '../../operations/alerts/alerts.ts';
import type { SilenceFields } from '../../operations/alerts/on-call.ts';
import type { ImportOptions } from '../../operations/cards/card-import.ts';
import type { NewConfig } from '../../operations/schedule/configs.ts';
import type { ResumeOrder } from '../../operations/stops/resumes.ts';
import type { Wire } from '../../platform/snake-keys.ts';
import type * as alerts from '../../resources/alerts.ts';
import type * as audit from '../../resources/audit.ts';
import type * as cards from '../../resources/cards.ts';
import type * as cleanup from '../../resources/cleanup.ts';
import type * as explain from '../../resources/explanation.ts';
import type * as limits from '../../resources/limits.ts';
import type * as plans from '../../resources/plan.ts';
import type * as shift from '../../resources/report.ts';
import type * as schedule from '../../resources/schedule.ts';
import type * as stats from '../../resources/stats.ts';
import type * as stops from '../../resources/stops.ts';
import type * as triggers from '../../resources/triggers.ts';

export type OverviewBody = Wire<stats.Overview>;
export type QueueBody = Wire<stats.QueueStats>;
export type TaskBody = Wire<stats.TaskStats>;
export type HistoryBody = Wire<stats.History>;
export type FailuresBody = Wire<stats.TaskFailures>;
export type PlanBody = Wire<plans.PlanReport>;
export type ExplanationBody = Wire<explain.CardExplanation>;
export type InitBody = Wire<schedule.InitReport>;
export type InitStateBody = Wire<schedule.InitState>;
export type ConcurrencyBody = Wire<limits.ConcurrencyLimit>;
export type ResetBody = Wire<limits.SlotReset>;
export type PauseBody = Wire<limits.PauseReport>;
export type FailuresWithinBody = Wire<stats.FailuresWithin>;
export type MaintenanceBody = Wire<limits.MaintenanceReport>;
export type HealthReasonBody = OverviewBody['health_reasons'][number];
export type ConfigBody = Wire<schedule.ConfigReport>;
export type AlertRuleBody = Wire<alerts.AlertRuleReport>;
export type AlertBody = Wire<alerts.AlertReport>;
export type SilenceBody = Wire<alerts.SilenceReport>;
export type AlertReceiverBody = Wire<alerts.ReceiverReport>;
export type WebhookTrialBody = Wire<alerts.WebhookTrialReport>;
export type RetentionBody = Wire<cleanup.Retention>;
export type CleanupPreviewBody = Wire<cleanup.CleanupPreview>;
export type CleanupProgressBody = Wire<cleanup.CleanupProgress>;
export type TriggerBody = Wire<triggers.TriggerReport>;
export type BatchBody = Wire<triggers.BatchReport>;
export type CancelledTriggersBody = Wire<triggers.CancelledTriggers>;
export type SelectionCountBody = Wire<triggers.SelectionCount>;
export type AuditBody = Wire<audit.AuditItem>;
export type UndoBody = Wire<audit.UndoReport>;
export type CardBody = Wire<cards.CardReport>;
export type CardListBody = Wire<cards.CardListReport>;
export type ImportBody = Wire<cards.ImportReport>;
export type ShiftReportBody = Wire<shift.ShiftReport>;
export type StopBody = Wire<stops.StopReport>;
export type StopModeBody = Wire<stops.StopModeReport>;
export type ReleaseBody = Wire<stops.ReleaseReport>;
export type DismissBody = Wire<stops.DismissReport>;
export type OrderedStopBody = Wire<stops.OrderedStopReport>;
export type ResumePreviewBody = Wire<stops.ResumePreview>;
export type ResumeRunBody = Wire<stops.ResumeRunReport>;

export type WhoamiBody = Pick<Actor, 'name' | 'role'>;

export interface ItemsBody<Item> {
  readonly items: readonly Item[];
}
export type PageBody<Item> = SliceOf<Item> & Wire<PageRequest>;

/** null and undefined mean not given. */
type Open<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined };
/** Times in RFC 3339. */
export type AuditQuery = Open<Record<'since' | 'until' | 'actor' | 'action' | 'object', string>>;
export type TimeQuery = Open<Record<'since' | 'until', string>>;
export type AlertFilter = TimeQuery & Open<{ rule_id: number; state: AlertState }>;
export type StopQuery = TimeQuery &
  Open<{ state: StopBody['state'] | 'released' | 'spared' | 'within'; carrier_id: number }>;
/** Selects cards with these attributes. */
export type Selection = Open<Wire<CardSelection>>;
export type CardQuery = Open<Wire<CardFilter>>;
export interface MaintenanceRequest {
  /** null or absent: all task types. */
  readonly task_type?: string | null;
  /** null or absent: the whole fleet. */
  readonly carrier_id?: number | null;
  /** RFC 3339. */
  readonly from: string;
  readonly seconds: number;
  readonly reason: string;
}
export type PauseArgs = [taskType: string, seconds: number, reason: string];
export type ConfigRequest = Wire<NewConfig>;
/** Only the fields to change. */
export type ConfigPatchRequest = Partial<ConfigRequest>;
export type AlertRuleRequest = Wire<NewAlertRule>;
export type AlertRulePatch = Partial<AlertRuleRequest>;
export type RetentionPatch = Partial<Pick<RetentionBody, 'retention_days' | 'enabled'>>;
/** Silences alerts that match every given attribute for this many seconds. */
export type SilenceRequest = Partial<Wire<SilenceFields>> & Pick<Wire<SilenceFields>, 'reason'>;
/** Held stops of a list of cards, or all. */
export type HeldSelection = { readonly card_ids: readonly number[] } | { readonly all: true };
/** A list of cards, or the cards that cardpoll stopped since a time. */
export type ResumeSelectionBody =
  | { readonly card_ids: readonly number[] }
  | { readonly since: string; readonly carrier_id?: number }
  | { readonly within: true; readonly carrier_id?: number };
export type ResumeOrderBody = Wire<ResumeOrder>;
export type ResumeTrial = ResumeOrderBody & { readonly dry_run: true };
export type { ImportFormat } from '../../operations/cards/card-file.ts';
export type ImportQuery = Wire<
  Pick<
    ImportOptions,
    'dryRun' | 'acceptOverPackage' | 'refuseDoubtful' | 'ignoreColumns' | 'overwriteVerified'
  >
>;

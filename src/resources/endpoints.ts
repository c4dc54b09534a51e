// Every endpoint of the admin API, declared once: method, path, the report of its answer and the arguments of a request. The server
// serves them (serve in api/routes), and the client makes a method of each. Imports only types, because commands must start
// quickly.
import type { Actor } from '../domain/audit.ts';
import type { StopMode } from '../domain/stops/stop.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { Wire } from '../platform/snake-keys.ts';
import type * as alerts from './alerts.ts';
import type * as audit from './audit.ts';
import type * as cards from './cards.ts';
import type * as cleanup from './cleanup.ts';
import type * as explanation from './explanation.ts';
import type * as limits from './limits.ts';
import type * as plan from './plan.ts';
import type * as report from './report.ts';
import type * as schedule from './schedule.ts';
import type { ItemsBody, PageBody, TimeQuery } from './schema.ts';
import type * as stats from './stats.ts';
import type * as stops from './stops.ts';
import type * as triggers from './triggers.ts';

/** In every answer of the server: identifies cardpoll and its version. */
export const VERSION_HEADER = 'cardpoll-version';

export interface Endpoint<Body, Args extends readonly unknown[] = readonly unknown[]> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Below /api/admin. Its variables are the first arguments of the client's method. */
  readonly path: string;
  /**
   * Names of the further arguments, as in JSON, separated by spaces: in the query of a GET or DELETE, in the body otherwise. `*`:
   * an object with the names. `?name`: in the query of a POST.
   */
  readonly takes: string;
  /** Only for types: the server's answer must be the type that the client expects. */
  readonly types?: { readonly expects: (body: Body) => void; readonly args: Args };
}

const at =
  (method: Endpoint<never>['method']) =>
  <Report, Args extends readonly unknown[] = []>(path: string, takes = ''): Endpoint<Wire<Report>, Args> => ({
    method,
    path,
    takes,
  });
const [get, put, post, remove] = [at('GET'), at('PUT'), at('POST'), at('DELETE')];
const list = <Item, Filter extends unknown[] = []>(path: string, filter = '') =>
  get<PageBody<Item>, [...Filter, page: number, pageSize: number]>(path, `${filter} page page_size`);

const RULES = '/polling-alert-rules';
const ALERTS = '/polling-alert-history';
const TRIGGERS = '/polling-manual-trigger';

export const ENDPOINTS = {
  whoami: get<Pick<Actor, 'name' | 'role'>>('/whoami'),
  audit: list<audit.AuditItem, [audit.AuditQuery]>('/audit', '*'),
  undo: post<audit.UndoReport, [id: number, dryRun: boolean]>('/audit/:id/undo', '?dry_run'),

  shiftReport: get<report.ShiftReport, [TimeQuery]>('/report', '*'),

  overview: get<stats.Overview>('/polling-stats'),
  queues: get<ItemsBody<stats.QueueStats>>('/polling-stats/queues'),
  tasks: get<ItemsBody<stats.TaskStats>>('/polling-stats/tasks'),
  /** 1 to 1440 minutes; up to 15 in steps of a second, beyond in steps of a minute. */
  history: get<stats.History, [minutes: number]>('/polling-stats/history', 'minutes'),
  failures: get<ItemsBody<stats.TaskFailures>>('/polling-stats/failures'),
  failuresWithin: get<stats.FailuresWithin, [TimeQuery]>('/polling-stats/failures/hours', '*'),
  /** `cards` or `add`; intervals as `carddata:600,package:3600`. */
  plan: get<plan.PlanReport, [cards: number | null, add: number | null, interval: string | null]>(
    '/plan',
    'cards add interval',
  ),
  initProgress: get<schedule.InitState>('/polling-stats/init-progress'),
  rebuildInit: post<schedule.InitState>('/polling-init/rebuild'),

  concurrency: get<PageBody<limits.ConcurrencyLimit>>('/polling-concurrency'),
  limit: get<limits.ConcurrencyLimit, [TaskType]>('/polling-concurrency/:task_type'),
  setConcurrency: put<limits.ConcurrencyLimit, [TaskType, number]>(
    '/polling-concurrency/:task_type',
    'max_concurrency',
  ),
  resetConcurrency: post<limits.SlotReset, [TaskType]>('/polling-concurrency/reset', 'task_type'),
  pauses: get<ItemsBody<limits.PauseReport>>('/polling-pauses'),
  pause: post<ItemsBody<limits.PauseReport>, [taskType: string, seconds: number, reason: string]>(
    '/polling-pauses',
    'task_type seconds reason',
  ),
  resume: remove<ItemsBody<limits.PauseReport>, [taskType: string]>('/polling-pauses', 'task_type'),
  maintenance: get<ItemsBody<limits.MaintenanceReport>>('/maintenance'),
  planMaintenance: post<limits.MaintenanceReport, [limits.MaintenanceRequest]>('/maintenance', '*'),
  cancelMaintenance: remove<limits.MaintenanceReport, [id: number]>('/maintenance/:id'),

  configs: list<schedule.ConfigReport>('/polling-configs'),
  config: get<schedule.ConfigReport, [id: number]>('/polling-configs/:id'),
  createConfig: post<schedule.ConfigReport, [schedule.ConfigRequest]>('/polling-configs', '*'),
  updateConfig: put<schedule.ConfigReport, [id: number, schedule.ConfigRequest]>('/polling-configs/:id', '*'),
  deleteConfig: remove<schedule.ConfigReport, [id: number]>('/polling-configs/:id'),

  alertRules: list<alerts.AlertRuleReport>(RULES),
  alertRule: get<alerts.AlertRuleReport, [id: number]>(`${RULES}/:id`),
  createAlertRule: post<alerts.AlertRuleReport, [alerts.AlertRuleRequest]>(RULES, '*'),
  updateAlertRule: put<alerts.AlertRuleReport, [id: number, Partial<alerts.AlertRuleRequest>]>(
    `${RULES}/:id`,
    '*',
  ),
  deleteAlertRule: remove<null, [id: number]>(`${RULES}/:id`),
  testAlertRule: post<alerts.WebhookTrialReport, [id: number]>(`${RULES}/:id/test`),
  alertReceivers: get<ItemsBody<alerts.ReceiverReport>>('/polling-alert-receivers'),
  alertHistory: list<alerts.AlertReport, [alerts.AlertFilter]>(ALERTS, '*'),
  acknowledgeAlert: post<alerts.AlertReport, [id: number, reason: string]>(
    `${ALERTS}/:id/acknowledge`,
    'reason',
  ),
  redeliverAlert: post<alerts.AlertReport, [id: number]>(`${ALERTS}/:id/redeliver`),
  silences: get<ItemsBody<alerts.SilenceReport>>('/polling-alert-silences'),
  createSilence: post<alerts.SilenceReport, [alerts.SilenceRequest]>('/polling-alert-silences', '*'),
  deleteSilence: remove<alerts.SilenceReport, [id: number]>('/polling-alert-silences/:id'),

  cleanupConfigs: get<PageBody<cleanup.Retention>>('/data-cleanup-configs'),
  cleanupConfig: get<cleanup.Retention, [id: number]>('/data-cleanup-configs/:id'),
  updateCleanupConfig: put<cleanup.Retention, [id: number, cleanup.RetentionPatch]>(
    '/data-cleanup-configs/:id',
    '*',
  ),
  cleanupPreview: get<cleanup.CleanupPreview>('/data-cleanup/preview'),
  cleanupProgress: get<cleanup.CleanupProgress>('/data-cleanup/progress'),
  triggerCleanup: post<{ readonly runId: string }>('/data-cleanup/trigger'),
  cancelCleanup: post<cleanup.CleanupProgress>('/data-cleanup/cancel'),

  triggers: list<triggers.TriggerReport>(TRIGGERS),
  trigger: get<triggers.TriggerReport, [id: string]>(`${TRIGGERS}/:trigger_id`),
  triggerSingle: post<triggers.TriggerReport, [TaskType, number]>(`${TRIGGERS}/single`, 'task_type card_id'),
  triggerBatch: post<triggers.BatchReport, [TaskType, readonly number[]]>(
    `${TRIGGERS}/batch`,
    'task_type card_ids',
  ),
  triggerByCondition: post<triggers.TriggerReport, [TaskType, triggers.Selection]>(
    `${TRIGGERS}/by-condition`,
    'task_type *',
  ),
  countSelected: get<triggers.SelectionCount, [triggers.Selection]>(`${TRIGGERS}/preview`, '*'),
  cancelTriggers: post<triggers.CancelledTriggers, [TaskType | undefined, boolean]>(
    `${TRIGGERS}/cancel-all`,
    'task_type dry_run',
  ),
  cancelTrigger: post<triggers.TriggerReport, [id: string]>(`${TRIGGERS}/cancel`, 'trigger_id'),

  stops: list<stops.StopReport, [stops.StopQuery]>('/stops', '*'),
  stopMode: get<stops.StopModeReport>('/stops/mode'),
  setStopMode: put<stops.StopModeReport, [StopMode, string]>('/stops/mode', 'mode reason'),
  releaseStops: post<stops.ReleaseReport, [stops.HeldSelection, string]>('/stops/release', '* reason'),
  dismissStops: post<stops.DismissReport, [stops.HeldSelection, string]>('/stops/dismiss', '* reason'),
  stopCard: post<stops.OrderedStopReport, [card: string, reason: string]>('/cards/:card/stop', 'reason'),
  resumeCard: post<stops.ResumeRunReport, [card: string, stops.ResumeOrderBody]>('/cards/:card/resume', '*'),
  resumeRuns: get<ItemsBody<stops.ResumeRunReport>>('/stops/resume'),
  resumeRun: get<stops.ResumeRunReport, [id: string]>('/stops/resume/:id'),
  cancelResumeRun: post<stops.ResumeRunReport, [id: string]>('/stops/resume/:id/cancel'),
  resumeStopped: post<stops.ResumeRunReport, [stops.ResumeSelectionBody, stops.ResumeOrderBody]>(
    '/stops/resume',
    '* *',
  ),
  previewResume: post<
    stops.ResumePreview,
    [stops.ResumeSelectionBody, stops.ResumeOrderBody & { readonly dry_run: true }]
  >('/stops/resume', '* *'),

  card: get<cards.CardReport, [card: string]>('/cards/:card'),
  explain: get<explanation.CardExplanation, [card: string]>('/cards/:card/explain'),
  /** Cards with a higher id; an answer may hold fewer than `limit` although there are more. */
  cards: get<cards.CardListReport, [cards.CardQuery, afterId: number, limit: number]>(
    '/cards',
    '* after_id limit',
  ),
};

/** Endpoints that stream a file. They have no deadline. */
export const FILE_ENDPOINTS = {
  exportCards: get<string, [cards.CardQuery, cards.ImportFormat]>('/cards/export', '* format'),
  importCards: post<cards.ImportReport, [cards.ImportQuery]>('/cards/import', '?*'),
  previewImport: post<string, [cards.ImportQuery]>('/cards/import/preview', '?*'),
};

const MANY_STOPS_MS = 120_000;
/**
 * Least time limit of an answer, milliseconds, even if the client has a shorter one: it waits for a receiver, or changes in
 * steps.
 */
export const LEAST_MS: { readonly [Name in keyof typeof ENDPOINTS]?: number } = {
  testAlertRule: 20_000,
  releaseStops: MANY_STOPS_MS,
  dismissStops: MANY_STOPS_MS,
  resumeStopped: MANY_STOPS_MS,
  previewResume: MANY_STOPS_MS,
};

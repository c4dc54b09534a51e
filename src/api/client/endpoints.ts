// Every endpoint of the admin API, declared once: method, path, the body of the answer and the arguments of a request. The server
// serves them (serve in routes/), and the client makes a method of each. Imports only types, because commands must start quickly.
import type { TaskType } from '../../domain/task-type.ts';
import type * as bodies from './client-bodies.ts';

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
  <Body, Args extends readonly unknown[] = []>(path: string, takes = ''): Endpoint<Body, Args> => ({
    method,
    path,
    takes,
  });
const [get, put, post, remove] = [at('GET'), at('PUT'), at('POST'), at('DELETE')];
const list = <Item, Filter extends unknown[] = []>(path: string, filter = '') =>
  get<bodies.PageBody<Item>, [...Filter, page: number, pageSize: number]>(path, `${filter} page page_size`);

const RULES = '/polling-alert-rules';
const ALERTS = '/polling-alert-history';
const TRIGGERS = '/polling-manual-trigger';

export const ENDPOINTS = {
  whoami: get<bodies.WhoamiBody>('/whoami'),
  audit: list<bodies.AuditBody, [bodies.AuditQuery]>('/audit', '*'),
  undo: post<bodies.UndoBody, [id: number, dryRun: boolean]>('/audit/:id/undo', '?dry_run'),

  shiftReport: get<bodies.ShiftReportBody, [bodies.TimeQuery]>('/report', '*'),

  overview: get<bodies.OverviewBody>('/polling-stats'),
  queues: get<bodies.ItemsBody<bodies.QueueBody>>('/polling-stats/queues'),
  tasks: get<bodies.ItemsBody<bodies.TaskBody>>('/polling-stats/tasks'),
  /** 1 to 1440 minutes; up to 15 in steps of a second, beyond in steps of a minute. */
  history: get<bodies.HistoryBody, [minutes: number]>('/polling-stats/history', 'minutes'),
  failures: get<bodies.ItemsBody<bodies.FailuresBody>>('/polling-stats/failures'),
  failuresWithin: get<bodies.FailuresWithinBody, [bodies.TimeQuery]>('/polling-stats/failures/hours', '*'),
  /** `cards` or `add`; intervals as `carddata:600,package:3600`. */
  plan: get<bodies.PlanBody, [cards: number | null, add: number | null, interval: string | null]>(
    '/plan',
    'cards add interval',
  ),
  initProgress: get<bodies.InitStateBody>('/polling-stats/init-progress'),
  rebuildInit: post<bodies.InitStateBody>('/polling-init/rebuild'),

  concurrency: get<bodies.PageBody<bodies.ConcurrencyBody>>('/polling-concurrency'),
  limit: get<bodies.ConcurrencyBody, [TaskType]>('/polling-concurrency/:task_type'),
  setConcurrency: put<bodies.ConcurrencyBody, [TaskType, number]>(
    '/polling-concurrency/:task_type',
    'max_concurrency',
  ),
  resetConcurrency: post<bodies.ResetBody, [TaskType]>('/polling-concurrency/reset', 'task_type'),
  pauses: get<bodies.ItemsBody<bodies.PauseBody>>('/polling-pauses'),
  pause: post<bodies.ItemsBody<bodies.PauseBody>, bodies.PauseArgs>(
    '/polling-pauses',
    'task_type seconds reason',
  ),
  resume: remove<bodies.ItemsBody<bodies.PauseBody>, [taskType: string]>('/polling-pauses', 'task_type'),
  maintenance: get<bodies.ItemsBody<bodies.MaintenanceBody>>('/maintenance'),
  planMaintenance: post<bodies.MaintenanceBody, [bodies.MaintenanceRequest]>('/maintenance', '*'),
  cancelMaintenance: remove<bodies.MaintenanceBody, [id: number]>('/maintenance/:id'),

  configs: list<bodies.ConfigBody>('/polling-configs'),
  config: get<bodies.ConfigBody, [id: number]>('/polling-configs/:id'),
  createConfig: post<bodies.ConfigBody, [bodies.ConfigPatchRequest]>('/polling-configs', '*'),
  updateConfig: put<bodies.ConfigBody, [id: number, bodies.ConfigPatchRequest]>('/polling-configs/:id', '*'),
  deleteConfig: remove<bodies.ConfigBody, [id: number]>('/polling-configs/:id'),

  alertRules: list<bodies.AlertRuleBody>(RULES),
  alertRule: get<bodies.AlertRuleBody, [id: number]>(`${RULES}/:id`),
  createAlertRule: post<bodies.AlertRuleBody, [bodies.AlertRuleRequest]>(RULES, '*'),
  updateAlertRule: put<bodies.AlertRuleBody, [id: number, bodies.AlertRulePatch]>(`${RULES}/:id`, '*'),
  deleteAlertRule: remove<null, [id: number]>(`${RULES}/:id`),
  testAlertRule: post<bodies.WebhookTrialBody, [id: number]>(`${RULES}/:id/test`),
  alertReceivers: get<bodies.ItemsBody<bodies.AlertReceiverBody>>('/polling-alert-receivers'),
  alertHistory: list<bodies.AlertBody, [bodies.AlertFilter]>(ALERTS, '*'),
  acknowledgeAlert: post<bodies.AlertBody, [id: number, reason: string]>(
    `${ALERTS}/:id/acknowledge`,
    'reason',
  ),
  redeliverAlert: post<bodies.AlertBody, [id: number]>(`${ALERTS}/:id/redeliver`),
  silences: get<bodies.ItemsBody<bodies.SilenceBody>>('/polling-alert-silences'),
  createSilence: post<bodies.SilenceBody, [bodies.SilenceRequest]>('/polling-alert-silences', '*'),
  deleteSilence: remove<bodies.SilenceBody, [id: number]>('/polling-alert-silences/:id'),

  cleanupConfigs: get<bodies.PageBody<bodies.RetentionBody>>('/data-cleanup-configs'),
  cleanupConfig: get<bodies.RetentionBody, [id: number]>('/data-cleanup-configs/:id'),
  updateCleanupConfig: put<bodies.RetentionBody, [id: number, bodies.RetentionPatch]>(
    '/data-cleanup-configs/:id',
    '*',
  ),
  cleanupPreview: get<bodies.CleanupPreviewBody>('/data-cleanup/preview'),
  cleanupProgress: get<bodies.CleanupProgressBody>('/data-cleanup/progress'),
  triggerCleanup: post<{ readonly run_id: string }>('/data-cleanup/trigger'),
  cancelCleanup: post<bodies.CleanupProgressBody>('/data-cleanup/cancel'),

  triggers: list<bodies.TriggerBody>(TRIGGERS),
  trigger: get<bodies.TriggerBody, [id: string]>(`${TRIGGERS}/:trigger_id`),
  triggerSingle: post<bodies.TriggerBody, [TaskType, number]>(`${TRIGGERS}/single`, 'task_type card_id'),
  triggerBatch: post<bodies.BatchBody, [TaskType, readonly number[]]>(
    `${TRIGGERS}/batch`,
    'task_type card_ids',
  ),
  triggerByCondition: post<bodies.TriggerBody, [TaskType, bodies.Selection]>(
    `${TRIGGERS}/by-condition`,
    'task_type *',
  ),
  countSelected: get<bodies.SelectionCountBody, [bodies.Selection]>(`${TRIGGERS}/preview`, '*'),
  cancelTriggers: post<bodies.CancelledTriggersBody, [TaskType | undefined, boolean]>(
    `${TRIGGERS}/cancel-all`,
    'task_type dry_run',
  ),
  cancelTrigger: post<bodies.TriggerBody, [id: string]>(`${TRIGGERS}/cancel`, 'trigger_id'),

  stops: list<bodies.StopBody, [bodies.StopQuery]>('/stops', '*'),
  stopMode: get<bodies.StopModeBody>('/stops/mode'),
  setStopMode: put<bodies.StopModeBody, [bodies.StopModeBody['mode'], string]>('/stops/mode', 'mode reason'),
  releaseStops: post<bodies.ReleaseBody, [bodies.HeldSelection, string]>('/stops/release', '* reason'),
  dismissStops: post<bodies.DismissBody, [bodies.HeldSelection, string]>('/stops/dismiss', '* reason'),
  stopCard: post<bodies.OrderedStopBody, [card: string, reason: string]>('/cards/:card/stop', 'reason'),
  resumeCard: post<bodies.ResumeRunBody, [card: string, bodies.ResumeOrderBody]>('/cards/:card/resume', '*'),
  resumeRuns: get<bodies.ItemsBody<bodies.ResumeRunBody>>('/stops/resume'),
  resumeRun: get<bodies.ResumeRunBody, [id: string]>('/stops/resume/:id'),
  cancelResumeRun: post<bodies.ResumeRunBody, [id: string]>('/stops/resume/:id/cancel'),
  resumeStopped: post<bodies.ResumeRunBody, [bodies.ResumeSelectionBody, bodies.ResumeOrderBody]>(
    '/stops/resume',
    '* *',
  ),
  previewResume: post<bodies.ResumePreviewBody, [bodies.ResumeSelectionBody, bodies.ResumeTrial]>(
    '/stops/resume',
    '* *',
  ),

  card: get<bodies.CardBody, [card: string]>('/cards/:card'),
  explain: get<bodies.ExplanationBody, [card: string]>('/cards/:card/explain'),
  /** Cards with a higher id; an answer may hold fewer than `limit` although there are more. */
  cards: get<bodies.CardListBody, [bodies.CardQuery, afterId: number, limit: number]>(
    '/cards',
    '* after_id limit',
  ),
};

/** Endpoints that stream a file. They have no deadline. */
export const FILE_ENDPOINTS = {
  exportCards: get<string, [bodies.CardQuery, bodies.ImportFormat]>('/cards/export', '* format'),
  importCards: post<bodies.ImportBody, [bodies.ImportQuery]>('/cards/import', '?*'),
  previewImport: post<string, [bodies.ImportQuery]>('/cards/import/preview', '?*'),
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

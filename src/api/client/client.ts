// Client of the admin API, used by the command line and the dashboard. One line an endpoint: path, a field by which its
// answer is known, body. Answers keep the body exactly as it was sent. How it is called is client-calls.ts.
import type { Readable } from 'node:stream';
import type { AlertState } from '../../domain/alerts/alert-rule.ts';
import { PAGE_SIZE_BOUNDS } from '../../domain/page.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type * as bodies from './client-bodies.ts';
import { ApiCalls, type ApiClientOptions, type Call } from './client-calls.ts';
import { endedEarly } from './client-errors.ts';

const TRIGGERS = '/polling-manual-trigger';
const RULES = '/polling-alert-rules';
const ALERTS = '/polling-alert-history';
const SILENCES = '/polling-alert-silences';
const PAUSES = '/polling-pauses';
const CONFIGS = '/polling-configs';
const RUNS = '/stops/resume';
const RETENTIONS = '/data-cleanup-configs';
/** A receiver has ten seconds to answer. */
const TEST_TIMEOUT_MS = 20_000;
/** For changes of very many stops, which are made in steps. */
const MANY_STOPS_TIMEOUT_MS = 120_000;

/** All methods throw CardpollError: `unavailable` when nothing usable answers, otherwise what the server said. */
export class ApiClient {
  readonly #calls: ApiCalls;

  constructor(private readonly options: ApiClientOptions) {
    this.#calls = new ApiCalls(options);
  }

  whoami = () => this.#get<bodies.WhoamiBody>('/whoami', 'role');
  /** Newest first. @param filter times in RFC 3339; what is left out is left open. */
  audit = (
    filter: Partial<Record<'since' | 'until' | 'actor' | 'action' | 'object', string | undefined>>,
    page: number,
    pageSize: number,
  ) => this.#page<bodies.AuditBody>('/audit', page, pageSize, filter);

  undo = (id: number, dry_run: boolean) =>
    this.#post<bodies.UndoBody>(`/audit/${id}/undo?dry_run=${dry_run}`, 'undoes');

  overview = () => this.#get<bodies.OverviewBody>('/polling-stats', 'tasks');
  queues = () => this.#items<bodies.QueueBody>('/polling-stats/queues');
  tasks = () => this.#items<bodies.TaskBody>('/polling-stats/tasks');
  /** @param minutes 1 to 1440; up to 15 in steps of a second, beyond in steps of a minute. */
  history = (minutes: number) =>
    this.#get<bodies.HistoryBody>(`/polling-stats/history?minutes=${minutes}`, 'step_seconds');
  failures = () => this.#items<bodies.FailuresBody>('/polling-stats/failures');
  initProgress = () => this.#get<bodies.InitStateBody>('/polling-stats/init-progress', 'status');
  rebuildInit = () => this.#post<bodies.InitStateBody>('/polling-init/rebuild', 'reconciliation');

  concurrency = () => this.#items<bodies.ConcurrencyBody>('/polling-concurrency');
  setConcurrency = (taskType: TaskType, max_concurrency: number) =>
    this.#put<bodies.ConcurrencyBody>(`/polling-concurrency/${taskType}`, 'task_type', {
      max_concurrency,
    });
  resetConcurrency = (task_type: TaskType) =>
    this.#post<bodies.ResetBody>('/polling-concurrency/reset', 'task_type', { task_type });

  pauses = () => this.#items<bodies.PauseBody>(PAUSES);
  pause = (task_type: string, seconds: number, reason: string) =>
    this.#post<bodies.ItemsBody<bodies.PauseBody>>(PAUSES, 'items', { task_type, seconds, reason });
  resume = (task_type: string) =>
    this.#delete<bodies.ItemsBody<bodies.PauseBody>>(`${PAUSES}?task_type=${task_type}`, 'items');

  configs = (page = 1, pageSize: number = PAGE_SIZE_BOUNDS.max) =>
    this.#page<bodies.ConfigBody>(CONFIGS, page, pageSize);
  config = (id: number) => this.#get<bodies.ConfigBody>(`${CONFIGS}/${id}`, 'card_condition');
  createConfig = (config: Partial<bodies.ConfigRequest>) =>
    this.#post<bodies.ConfigBody>(CONFIGS, 'card_condition', config);
  updateConfig = (id: number, patch: Partial<bodies.ConfigRequest>) =>
    this.#put<bodies.ConfigBody>(`${CONFIGS}/${id}`, 'id', patch);
  deleteConfig = (id: number) => this.#delete<bodies.ConfigBody>(`${CONFIGS}/${id}`, 'card_condition');

  alertRules = (page: number, pageSize: number) => this.#page<bodies.AlertRuleBody>(RULES, page, pageSize);
  alertRule = (id: number) => this.#get<bodies.AlertRuleBody>(`${RULES}/${id}`, 'rule_type');
  createAlertRule = (rule: bodies.AlertRuleRequest) =>
    this.#post<bodies.AlertRuleBody>(RULES, 'rule_type', rule);
  updateAlertRule = (id: number, patch: Partial<bodies.AlertRuleRequest>) =>
    this.#put<bodies.AlertRuleBody>(`${RULES}/${id}`, 'rule_type', patch);
  deleteAlertRule = async (id: number): Promise<void> => {
    await this.#calls.answer({ method: 'DELETE', path: `${RULES}/${id}` });
  };
  testAlertRule = (id: number) =>
    this.#post<bodies.WebhookTrialBody>(`${RULES}/${id}/test`, 'delivered', undefined, TEST_TIMEOUT_MS);

  /** @param filter what is left out is not asked for. */
  alertHistory = (
    filter: { readonly rule_id?: number | undefined; readonly state?: AlertState | undefined },
    page: number,
    pageSize: number,
  ) => this.#page<bodies.AlertBody>(ALERTS, page, pageSize, filter);
  acknowledgeAlert = (id: number, reason: string) =>
    this.#post<bodies.AlertBody>(`${ALERTS}/${id}/acknowledge`, 'fired_at', { reason });
  redeliverAlert = (id: number) => this.#post<bodies.AlertBody>(`${ALERTS}/${id}/redeliver`, 'fired_at');

  silences = () => this.#items<bodies.SilenceBody>(SILENCES);
  createSilence = (silence: bodies.SilenceRequest) =>
    this.#post<bodies.SilenceBody>(SILENCES, 'until', silence);
  deleteSilence = (id: number) => this.#delete<bodies.SilenceBody>(`${SILENCES}/${id}`, 'until');

  cleanupConfigs = () => this.#items<bodies.RetentionBody>(`${RETENTIONS}?page_size=${PAGE_SIZE_BOUNDS.max}`);
  updateCleanupConfig = (
    id: number,
    patch: { readonly retention_days?: number; readonly enabled?: boolean },
  ) => this.#put<bodies.RetentionBody>(`${RETENTIONS}/${id}`, 'id', patch);
  cleanupPreview = () => this.#get<bodies.CleanupPreviewBody>('/data-cleanup/preview', 'total_rows');
  cleanupProgress = () => this.#get<bodies.CleanupProgressBody>('/data-cleanup/progress', 'batches');
  triggerCleanup = () => this.#post<{ readonly run_id: string }>('/data-cleanup/trigger', 'run_id');
  cancelCleanup = () => this.#post<bodies.CleanupProgressBody>('/data-cleanup/cancel', 'batches');

  triggers = (page: number, pageSize: number) => this.#page<bodies.TriggerBody>(TRIGGERS, page, pageSize);
  trigger = (id: string) => this.#get<bodies.TriggerBody>(pathOf(TRIGGERS, id), 'trigger_id');
  triggerSingle = (task_type: TaskType, card_id: number) =>
    this.#post<bodies.TriggerBody>(`${TRIGGERS}/single`, 'trigger_id', { card_id, task_type });
  triggerBatch = (task_type: TaskType, card_ids: readonly number[]) =>
    this.#post<bodies.BatchBody>(`${TRIGGERS}/batch`, 'unknown_card_ids', { card_ids, task_type });
  triggerByCondition = (task_type: TaskType, selection: bodies.Selection) =>
    this.#post<bodies.TriggerBody>(`${TRIGGERS}/by-condition`, 'trigger_id', {
      task_type,
      ...given(selection),
    });
  countSelected = (selection: bodies.Selection) =>
    this.#get<bodies.SelectionCountBody>(`${TRIGGERS}/preview?${query(selection)}`, 'matching');
  cancelTriggers = (task_type: TaskType | undefined, dry_run: boolean) =>
    this.#post<bodies.CancelledTriggersBody>(`${TRIGGERS}/cancel-all`, 'triggers', {
      task_type,
      dry_run,
    });
  cancelTrigger = (trigger_id: string) =>
    this.#post<bodies.TriggerBody>(`${TRIGGERS}/cancel`, 'trigger_id', { trigger_id });

  stops = (filter: bodies.StopQuery, page: number, pageSize: number) =>
    this.#page<bodies.StopBody>('/stops', page, pageSize, filter);
  stopMode = () => this.#get<bodies.StopModeBody>('/stops/mode', 'mode');
  setStopMode = (mode: bodies.StopModeBody['mode'], reason: string) =>
    this.#put<bodies.StopModeBody>('/stops/mode', 'mode', { mode, reason });
  releaseStops = (held: bodies.HeldSelection, reason: string) =>
    this.#post<bodies.ReleaseBody>('/stops/release', 'released', { ...held, reason }, MANY_STOPS_TIMEOUT_MS);
  dismissStops = (held: bodies.HeldSelection, reason: string) =>
    this.#post<bodies.DismissBody>('/stops/dismiss', 'dismissed', { ...held, reason }, MANY_STOPS_TIMEOUT_MS);
  stopCard = (idOrIccid: string, reason: string) =>
    this.#post<bodies.OrderedStopBody>(`${pathOf('/cards', idOrIccid)}/stop`, 'state', {
      reason,
    });

  previewResume = (cards: bodies.ResumeSelectionBody, order: bodies.ResumeOrderBody) =>
    this.#post<bodies.ResumePreviewBody>(
      RUNS,
      'skipped',
      { ...cards, ...order, dry_run: true },
      MANY_STOPS_TIMEOUT_MS,
    );
  resumeStopped = (cards: bodies.ResumeSelectionBody, order: bodies.ResumeOrderBody) =>
    this.#post<bodies.ResumeRunBody>(RUNS, 'already_running', { ...cards, ...order }, MANY_STOPS_TIMEOUT_MS);
  resumeCard = (idOrIccid: string, order: bodies.ResumeOrderBody) =>
    this.#post<bodies.ResumeRunBody>(`${pathOf('/cards', idOrIccid)}/resume`, 'already_running', order);
  resumeRuns = () => this.#items<bodies.ResumeRunBody>(RUNS);
  resumeRun = (id: string) => this.#get<bodies.ResumeRunBody>(pathOf(RUNS, id), 'already_running');
  cancelResumeRun = (id: string) =>
    this.#post<bodies.ResumeRunBody>(`${pathOf(RUNS, id)}/cancel`, 'already_running');

  card = (idOrIccid: string) => this.#get<bodies.CardBody>(pathOf('/cards', idOrIccid), 'card_id');
  explain = (idOrIccid: string) =>
    this.#get<bodies.ExplanationBody>(`${pathOf('/cards', idOrIccid)}/explain`, 'logs_command');
  /** @param after_id cards with a higher id; an answer may hold fewer than `limit` although there are more. */
  cards = (filter: bodies.CardQuery, after_id: number, limit: number) =>
    this.#get<bodies.CardListBody>(`/cards?${query({ ...filter, after_id, limit })}`, 'next_after_id');
  /** The cards as they arrive. Has no deadline once they do: an export takes as long as its reader takes. */
  exportCards = (filter: bodies.CardQuery, format: bodies.ImportFormat) =>
    this.#calls.stream({
      method: 'GET',
      path: `/cards/export?${query({ ...filter, format })}`,
      timeoutMs: null,
    });
  /** Sends the cards as they are read. Has no deadline: an import takes as long as it takes. */
  importCards = (cards: Readable, format: bodies.ImportFormat, options: bodies.ImportQuery) =>
    this.#calls.call<bodies.ImportBody>(importCall('/cards/import', cards, format, options), 'received');
  /**
   * Tries an import, as importCards makes it.
   * @param onFormer gets the cards that it would update, as they are, in the form of an import; is awaited
   */
  previewImport = async (
    cards: Readable,
    format: bodies.ImportFormat,
    options: bodies.ImportQuery,
    onFormer: (former: ReadonlyArray<Record<string, unknown>>) => Promise<void>,
  ): Promise<bodies.ImportBody> => {
    let report: bodies.ImportBody | null = null;
    for await (const rows of this.#calls.objects(
      importCall('/cards/import/preview', cards, format, options),
    )) {
      const last = rows.at(-1);
      const ends = last !== undefined && 'received' in last;
      if (ends) report = last as unknown as bodies.ImportBody;
      await onFormer(ends ? rows.slice(0, -1) : rows);
    }
    if (report === null) throw endedEarly(this.options.url, new Error('there was no report'));
    return report;
  };

  #get = <Body>(path: string, proof: keyof Body) => this.#calls.call<Body>({ method: 'GET', path }, proof);
  #put = <Body>(path: string, proof: keyof Body, json: object) =>
    this.#calls.call<Body>({ method: 'PUT', path, json }, proof);
  /** @param leastMs that the answer may take, whatever the options say. */
  #post = <Body>(path: string, proof: keyof Body, json?: object, leastMs = 0) => {
    const timeoutMs = Math.max(this.options.timeoutMs, leastMs);
    return this.#calls.call<Body>({ method: 'POST', path, json, timeoutMs }, proof);
  };
  #delete = <Body>(path: string, proof: keyof Body) =>
    this.#calls.call<Body>({ method: 'DELETE', path }, proof);
  #items = <Item>(path: string) => this.#get<bodies.ItemsBody<Item>>(path, 'items');

  /** @param filter what is null or undefined is left open. */
  #page<Item>(path: string, page: number, pageSize: number, filter: object = {}) {
    const asked = query({ ...filter, page, page_size: pageSize });
    return this.#get<bodies.PageBody<Item>>(`${path}?${asked}`, 'items');
  }
}

/** @param id as an operator typed it. */
function pathOf(list: string, id: string): string {
  return `${list}/${encodeURIComponent(id)}`;
}

function importCall(
  path: string,
  stream: Readable,
  format: bodies.ImportFormat,
  options: bodies.ImportQuery,
): Call {
  const headers = { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' };
  // A daemon of an older version refuses parameters that it does not know.
  const asked = query(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== false)));
  return {
    method: 'POST',
    path: `${path}${asked === '' ? '' : `?${asked}`}`,
    stream,
    headers,
    timeoutMs: null,
  };
}

/** What is null or undefined is left out. */
function query(fields: object): string {
  const texts = Object.entries(given(fields)).map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(texts).toString();
}

function given<Fields extends object>(fields: Fields): Partial<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Partial<Fields>;
}

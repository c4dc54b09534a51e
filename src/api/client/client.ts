// Client of the admin API, used by the command line and the dashboard. One method an endpoint; answers keep the body
// exactly as it was sent. How it is called is client-calls.ts.
import type { Readable } from 'node:stream';
import type { AlertState } from '../../domain/alerts/alert-rule.ts';
import { PAGE_SIZE_BOUNDS } from '../../domain/page.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { ImportFormat } from '../../operations/cards/card-import.ts';
import type {
  AlertBody,
  AlertRuleBody,
  AlertRuleRequest,
  AuditBody,
  BatchBody,
  CardBody,
  CardListBody,
  CardQuery,
  CleanupPreviewBody,
  CleanupProgressBody,
  ConcurrencyBody,
  ConfigBody,
  ConfigRequest,
  ExplanationBody,
  FailuresBody,
  HistoryBody,
  ImportBody,
  InitStateBody,
  ItemsBody,
  OverviewBody,
  PageBody,
  PauseBody,
  QueueBody,
  ResetBody,
  RetentionBody,
  Selection,
  SelectionCountBody,
  SilenceBody,
  SilenceRequest,
  TaskBody,
  TriggerBody,
  WebhookTrialBody,
  WhoamiBody,
} from './client-bodies.ts';
import { type Answer, ApiCalls, type ApiClientOptions } from './client-calls.ts';

const TRIGGERS = '/polling-manual-trigger';
const RULES = '/polling-alert-rules';
const ALERTS = '/polling-alert-history';
const SILENCES = '/polling-alert-silences';
const PAUSES = '/polling-pauses';
/** A receiver has ten seconds to answer. */
const TEST_TIMEOUT_MS = 20_000;

/** All methods throw CardpollError: `unavailable` when nothing usable answers, otherwise what the server said. */
export class ApiClient {
  readonly #calls: ApiCalls;

  constructor(private readonly options: ApiClientOptions) {
    this.#calls = new ApiCalls(options);
  }

  whoami = () => this.#calls.get<WhoamiBody>('/whoami', 'role');
  overview = () => this.#calls.get<OverviewBody>('/polling-stats', 'tasks');
  queues = () => this.#calls.get<ItemsBody<QueueBody>>('/polling-stats/queues', 'items');
  tasks = () => this.#calls.get<ItemsBody<TaskBody>>('/polling-stats/tasks', 'items');
  initProgress = () => this.#calls.get<InitStateBody>('/polling-stats/init-progress', 'status');
  /** @param minutes 1 to 1440; up to 15 in steps of a second, beyond in steps of a minute. */
  history = (minutes: number) =>
    this.#calls.get<HistoryBody>(`/polling-stats/history?minutes=${minutes}`, 'step_seconds');
  failures = () => this.#calls.get<ItemsBody<FailuresBody>>('/polling-stats/failures', 'items');
  pauses = () => this.#calls.get<ItemsBody<PauseBody>>(PAUSES, 'items');
  concurrency = () => this.#calls.get<ItemsBody<ConcurrencyBody>>('/polling-concurrency', 'items');
  config = (id: number) => this.#calls.get<ConfigBody>(`/polling-configs/${id}`, 'card_condition');
  configs = (page = 1, pageSize = PAGE_SIZE_BOUNDS.max) =>
    this.#calls.get<PageBody<ConfigBody>>(`/polling-configs?page=${page}&page_size=${pageSize}`, 'items');
  alertRules = (page: number, pageSize: number) =>
    this.#calls.get<PageBody<AlertRuleBody>>(`${RULES}?page=${page}&page_size=${pageSize}`, 'items');
  alertRule = (id: number) => this.#calls.get<AlertRuleBody>(`${RULES}/${id}`, 'rule_type');
  cleanupConfigs = () =>
    this.#calls.get<ItemsBody<RetentionBody>>(
      `/data-cleanup-configs?page_size=${PAGE_SIZE_BOUNDS.max}`,
      'items',
    );
  cleanupPreview = () => this.#calls.get<CleanupPreviewBody>('/data-cleanup/preview', 'total_rows');
  cleanupProgress = () => this.#calls.get<CleanupProgressBody>('/data-cleanup/progress', 'batches');
  triggers = (page: number, pageSize: number) =>
    this.#calls.get<PageBody<TriggerBody>>(`${TRIGGERS}?page=${page}&page_size=${pageSize}`, 'items');
  trigger = (id: string) =>
    this.#calls.get<TriggerBody>(`${TRIGGERS}/${encodeURIComponent(id)}`, 'trigger_id');
  card = (idOrIccid: string) =>
    this.#calls.get<CardBody>(`/cards/${encodeURIComponent(idOrIccid)}`, 'card_id');

  explain = (idOrIccid: string) =>
    this.#calls.get<ExplanationBody>(`/cards/${encodeURIComponent(idOrIccid)}/explain`, 'logs_command');

  setConcurrency(taskType: TaskType, maxConcurrency: number): Promise<Answer<ConcurrencyBody>> {
    const json = { max_concurrency: maxConcurrency };
    return this.#calls.call({ method: 'PUT', path: `/polling-concurrency/${taskType}`, json }, 'task_type');
  }

  resetConcurrency(taskType: TaskType): Promise<Answer<ResetBody>> {
    const json = { task_type: taskType };
    return this.#calls.call({ method: 'POST', path: '/polling-concurrency/reset', json }, 'task_type');
  }

  pause(taskTypes: string, seconds: number, reason: string): Promise<Answer<ItemsBody<PauseBody>>> {
    const json = { task_type: taskTypes, seconds, reason };
    return this.#calls.call({ method: 'POST', path: PAUSES, json }, 'items');
  }

  resume(taskTypes: string): Promise<Answer<ItemsBody<PauseBody>>> {
    return this.#calls.call({ method: 'DELETE', path: `${PAUSES}?task_type=${taskTypes}` }, 'items');
  }

  updateConfig(id: number, patch: Partial<ConfigRequest>): Promise<Answer<ConfigBody>> {
    return this.#calls.call({ method: 'PUT', path: `/polling-configs/${id}`, json: patch }, 'id');
  }

  createConfig(config: Partial<ConfigRequest>): Promise<Answer<ConfigBody>> {
    return this.#calls.call({ method: 'POST', path: '/polling-configs', json: config }, 'card_condition');
  }

  deleteConfig(id: number): Promise<Answer<ConfigBody>> {
    return this.#calls.call({ method: 'DELETE', path: `/polling-configs/${id}` }, 'card_condition');
  }

  rebuildInit(): Promise<Answer<InitStateBody>> {
    return this.#calls.call({ method: 'POST', path: '/polling-init/rebuild' }, 'reconciliation');
  }

  createAlertRule(rule: AlertRuleRequest): Promise<Answer<AlertRuleBody>> {
    return this.#calls.call({ method: 'POST', path: RULES, json: rule }, 'rule_type');
  }

  updateAlertRule(id: number, patch: Partial<AlertRuleRequest>): Promise<Answer<AlertRuleBody>> {
    return this.#calls.call({ method: 'PUT', path: `${RULES}/${id}`, json: patch }, 'rule_type');
  }

  /** Newest first. @param filter times in RFC 3339; what is left out is left open. */
  audit(
    filter: Partial<Record<'since' | 'until' | 'actor' | 'action', string | undefined>>,
    page: number,
    pageSize: number,
  ): Promise<Answer<PageBody<AuditBody>>> {
    const query = Object.entries({ ...filter, page: `${page}`, page_size: `${pageSize}` });
    const given = query.filter((entry): entry is [string, string] => entry[1] !== undefined);
    return this.#calls.get(`/audit?${new URLSearchParams(given)}`, 'items');
  }

  async deleteAlertRule(id: number): Promise<void> {
    await this.#calls.answer({ method: 'DELETE', path: `${RULES}/${id}` });
  }

  /** Takes as long as the receiver, within bounds. */
  testAlertRule(id: number): Promise<Answer<WebhookTrialBody>> {
    const timeoutMs = Math.max(this.options.timeoutMs, TEST_TIMEOUT_MS);
    return this.#calls.call({ method: 'POST', path: `${RULES}/${id}/test`, timeoutMs }, 'delivered');
  }

  /** @param filter what is left out is not asked for. */
  alertHistory(
    filter: { readonly rule_id?: number; readonly state?: AlertState },
    page: number,
    pageSize: number,
  ): Promise<Answer<PageBody<AlertBody>>> {
    const query = Object.entries(filter).map(([name, value]) => `&${name}=${value}`);
    return this.#calls.get(`${ALERTS}?page=${page}&page_size=${pageSize}${query.join('')}`, 'items');
  }

  acknowledgeAlert(id: number, reason: string): Promise<Answer<AlertBody>> {
    return this.#calls.call(
      { method: 'POST', path: `${ALERTS}/${id}/acknowledge`, json: { reason } },
      'fired_at',
    );
  }

  redeliverAlert(id: number): Promise<Answer<AlertBody>> {
    return this.#calls.call({ method: 'POST', path: `${ALERTS}/${id}/redeliver` }, 'fired_at');
  }

  silences = () => this.#calls.get<ItemsBody<SilenceBody>>(SILENCES, 'items');

  createSilence(silence: SilenceRequest): Promise<Answer<SilenceBody>> {
    return this.#calls.call({ method: 'POST', path: SILENCES, json: silence }, 'until');
  }

  deleteSilence(id: number): Promise<Answer<SilenceBody>> {
    return this.#calls.call({ method: 'DELETE', path: `${SILENCES}/${id}` }, 'until');
  }

  updateCleanupConfig(
    id: number,
    patch: { readonly retention_days?: number; readonly enabled?: boolean },
  ): Promise<Answer<RetentionBody>> {
    return this.#calls.call({ method: 'PUT', path: `/data-cleanup-configs/${id}`, json: patch }, 'id');
  }

  triggerCleanup(): Promise<Answer<{ readonly run_id: string }>> {
    return this.#calls.call({ method: 'POST', path: '/data-cleanup/trigger' }, 'run_id');
  }

  cancelCleanup(): Promise<Answer<CleanupProgressBody>> {
    return this.#calls.call({ method: 'POST', path: '/data-cleanup/cancel' }, 'batches');
  }

  triggerSingle(taskType: TaskType, cardId: number): Promise<Answer<TriggerBody>> {
    const json = { card_id: cardId, task_type: taskType };
    return this.#calls.call({ method: 'POST', path: `${TRIGGERS}/single`, json }, 'trigger_id');
  }

  triggerBatch(taskType: TaskType, cardIds: readonly number[]): Promise<Answer<BatchBody>> {
    const json = { card_ids: cardIds, task_type: taskType };
    return this.#calls.call({ method: 'POST', path: `${TRIGGERS}/batch`, json }, 'unknown_card_ids');
  }

  triggerByCondition(taskType: TaskType, selection: Selection): Promise<Answer<TriggerBody>> {
    const json = { task_type: taskType, ...given(selection) };
    return this.#calls.call({ method: 'POST', path: `${TRIGGERS}/by-condition`, json }, 'trigger_id');
  }

  countSelected(selection: Selection): Promise<Answer<SelectionCountBody>> {
    const query = Object.entries(given(selection)).map(([name, value]) => `${name}=${value}`);
    return this.#calls.get(`${TRIGGERS}/preview?${query.join('&')}`, 'matching');
  }

  cancelTrigger(triggerId: string): Promise<Answer<TriggerBody>> {
    const json = { trigger_id: triggerId };
    return this.#calls.call({ method: 'POST', path: `${TRIGGERS}/cancel`, json }, 'trigger_id');
  }

  /** Sends the cards as they are read. Has no deadline: an import takes as long as it takes. */
  importCards(cards: Readable, format: ImportFormat, dryRun: boolean): Promise<Answer<ImportBody>> {
    const headers = { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' };
    const path = `/cards/import${dryRun ? '?dry_run=true' : ''}`;
    const call = { method: 'POST', path, stream: cards, headers, timeoutMs: null } as const;
    return this.#calls.call(call, 'received');
  }

  /** @param afterId cards with a higher id; an answer may hold fewer than `limit` although there are more. */
  cards(filter: CardQuery, afterId: number, limit: number): Promise<Answer<CardListBody>> {
    const query = new URLSearchParams({ ...textsOf(filter), after_id: `${afterId}`, limit: `${limit}` });
    return this.#calls.get<CardListBody>(`/cards?${query}`, 'next_after_id');
  }

  /** The cards as they arrive. Has no deadline once they do: an export takes as long as its reader takes. */
  exportCards(filter: CardQuery, format: ImportFormat): AsyncGenerator<Buffer> {
    const query = new URLSearchParams({ ...textsOf(filter), format });
    return this.#calls.stream({ method: 'GET', path: `/cards/export?${query}`, timeoutMs: null });
  }
}

function textsOf(filter: CardQuery): Record<string, string> {
  return Object.fromEntries(Object.entries(given(filter)).map(([name, value]) => [name, String(value)]));
}

function given(selection: Selection): Partial<Selection> {
  return Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== null));
}

// Client of the admin API, used by the command line. One method an endpoint; answers keep the body exactly as it was
// sent. Problems become CardpollErrors of the kind the server meant. Repeats nothing but a POST whose connection broke,
// once: its Idempotency-Key lets it run only once.
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { AlertState } from '../domain/alert-rule.ts';
import { PAGE_SIZE_BOUNDS } from '../domain/page.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { ImportFormat } from '../operations/card-import.ts';
import { CardpollError } from '../platform/errors.ts';
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
import { endedEarly, errorOfAnswer, notCardpoll, objectIn, tooSlow, unreachable } from './client-errors.ts';
import {
  exchange,
  exchangeAgainAfterReset,
  type Incoming,
  type Outgoing,
  open,
  readBounded,
} from './client-transport.ts';

export interface Answer<Body> {
  readonly body: Body;
  /** The body as it was sent. */
  readonly text: string;
}

interface ApiClientOptions {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly token: string | null;
  /** For one whole answer. */
  readonly timeoutMs: number;
  /** Aborts what is under way; the calls then throw its reason. */
  readonly signal: AbortSignal;
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: unknown;
  readonly stream?: Readable;
  readonly headers?: Record<string, string>;
  /** Replaces the deadline of the options; null: none. */
  readonly timeoutMs?: number | null;
}

const ADMIN = '/api/admin';
const TRIGGERS = '/polling-manual-trigger';
const RULES = '/polling-alert-rules';
const ALERTS = '/polling-alert-history';
const SILENCES = '/polling-alert-silences';
const PAUSES = '/polling-pauses';
/** A receiver has ten seconds to answer. */
const TEST_TIMEOUT_MS = 20_000;

/** All methods throw CardpollError: `unavailable` when nothing usable answers, otherwise what the server said. */
export class ApiClient {
  constructor(private readonly options: ApiClientOptions) {}

  whoami = () => this.#get<WhoamiBody>('/whoami', 'role');
  overview = () => this.#get<OverviewBody>('/polling-stats', 'tasks');
  queues = () => this.#get<ItemsBody<QueueBody>>('/polling-stats/queues', 'items');
  tasks = () => this.#get<ItemsBody<TaskBody>>('/polling-stats/tasks', 'items');
  initProgress = () => this.#get<InitStateBody>('/polling-stats/init-progress', 'status');
  /** @param minutes 1 to 1440; up to 15 in steps of a second, beyond in steps of a minute. */
  history = (minutes: number) =>
    this.#get<HistoryBody>(`/polling-stats/history?minutes=${minutes}`, 'step_seconds');
  failures = () => this.#get<ItemsBody<FailuresBody>>('/polling-stats/failures', 'items');
  pauses = () => this.#get<ItemsBody<PauseBody>>(PAUSES, 'items');
  concurrency = () => this.#get<ItemsBody<ConcurrencyBody>>('/polling-concurrency', 'items');
  config = (id: number) => this.#get<ConfigBody>(`/polling-configs/${id}`, 'card_condition');
  configs = (page = 1, pageSize = PAGE_SIZE_BOUNDS.max) =>
    this.#get<PageBody<ConfigBody>>(`/polling-configs?page=${page}&page_size=${pageSize}`, 'items');
  alertRules = (page: number, pageSize: number) =>
    this.#get<PageBody<AlertRuleBody>>(`${RULES}?page=${page}&page_size=${pageSize}`, 'items');
  alertRule = (id: number) => this.#get<AlertRuleBody>(`${RULES}/${id}`, 'rule_type');
  cleanupConfigs = () =>
    this.#get<ItemsBody<RetentionBody>>(`/data-cleanup-configs?page_size=${PAGE_SIZE_BOUNDS.max}`, 'items');
  cleanupPreview = () => this.#get<CleanupPreviewBody>('/data-cleanup/preview', 'total_rows');
  cleanupProgress = () => this.#get<CleanupProgressBody>('/data-cleanup/progress', 'batches');
  triggers = (page: number, pageSize: number) =>
    this.#get<PageBody<TriggerBody>>(`${TRIGGERS}?page=${page}&page_size=${pageSize}`, 'items');
  trigger = (id: string) => this.#get<TriggerBody>(`${TRIGGERS}/${encodeURIComponent(id)}`, 'trigger_id');
  card = (idOrIccid: string) => this.#get<CardBody>(`/cards/${encodeURIComponent(idOrIccid)}`, 'card_id');

  explain = (idOrIccid: string) =>
    this.#get<ExplanationBody>(`/cards/${encodeURIComponent(idOrIccid)}/explain`, 'logs_command');

  setConcurrency(taskType: TaskType, maxConcurrency: number): Promise<Answer<ConcurrencyBody>> {
    const json = { max_concurrency: maxConcurrency };
    return this.#call({ method: 'PUT', path: `/polling-concurrency/${taskType}`, json }, 'task_type');
  }

  resetConcurrency(taskType: TaskType): Promise<Answer<ResetBody>> {
    const json = { task_type: taskType };
    return this.#call({ method: 'POST', path: '/polling-concurrency/reset', json }, 'task_type');
  }

  pause(taskTypes: string, seconds: number, reason: string): Promise<Answer<ItemsBody<PauseBody>>> {
    const json = { task_type: taskTypes, seconds, reason };
    return this.#call({ method: 'POST', path: PAUSES, json }, 'items');
  }

  resume(taskTypes: string): Promise<Answer<ItemsBody<PauseBody>>> {
    return this.#call({ method: 'DELETE', path: `${PAUSES}?task_type=${taskTypes}` }, 'items');
  }

  updateConfig(id: number, patch: Partial<ConfigRequest>): Promise<Answer<ConfigBody>> {
    return this.#call({ method: 'PUT', path: `/polling-configs/${id}`, json: patch }, 'id');
  }

  createConfig(config: Partial<ConfigRequest>): Promise<Answer<ConfigBody>> {
    return this.#call({ method: 'POST', path: '/polling-configs', json: config }, 'card_condition');
  }

  deleteConfig(id: number): Promise<Answer<ConfigBody>> {
    return this.#call({ method: 'DELETE', path: `/polling-configs/${id}` }, 'card_condition');
  }

  rebuildInit(): Promise<Answer<InitStateBody>> {
    return this.#call({ method: 'POST', path: '/polling-init/rebuild' }, 'reconciliation');
  }

  createAlertRule(rule: AlertRuleRequest): Promise<Answer<AlertRuleBody>> {
    return this.#call({ method: 'POST', path: RULES, json: rule }, 'rule_type');
  }

  updateAlertRule(id: number, patch: Partial<AlertRuleRequest>): Promise<Answer<AlertRuleBody>> {
    return this.#call({ method: 'PUT', path: `${RULES}/${id}`, json: patch }, 'rule_type');
  }

  /** Newest first. @param filter times in RFC 3339; what is left out is left open. */
  audit(
    filter: Partial<Record<'since' | 'until' | 'actor' | 'action', string | undefined>>,
    page: number,
    pageSize: number,
  ): Promise<Answer<PageBody<AuditBody>>> {
    const query = Object.entries({ ...filter, page: `${page}`, page_size: `${pageSize}` });
    const given = query.filter((entry): entry is [string, string] => entry[1] !== undefined);
    return this.#get(`/audit?${new URLSearchParams(given)}`, 'items');
  }

  async deleteAlertRule(id: number): Promise<void> {
    await this.#answer({ method: 'DELETE', path: `${RULES}/${id}` });
  }

  /** Takes as long as the receiver, within bounds. */
  testAlertRule(id: number): Promise<Answer<WebhookTrialBody>> {
    const timeoutMs = Math.max(this.options.timeoutMs, TEST_TIMEOUT_MS);
    return this.#call({ method: 'POST', path: `${RULES}/${id}/test`, timeoutMs }, 'delivered');
  }

  /** @param filter what is left out is not asked for. */
  alertHistory(
    filter: { readonly rule_id?: number; readonly state?: AlertState },
    page: number,
    pageSize: number,
  ): Promise<Answer<PageBody<AlertBody>>> {
    const query = Object.entries(filter).map(([name, value]) => `&${name}=${value}`);
    return this.#get(`${ALERTS}?page=${page}&page_size=${pageSize}${query.join('')}`, 'items');
  }

  acknowledgeAlert(id: number, reason: string): Promise<Answer<AlertBody>> {
    return this.#call({ method: 'POST', path: `${ALERTS}/${id}/acknowledge`, json: { reason } }, 'fired_at');
  }

  redeliverAlert(id: number): Promise<Answer<AlertBody>> {
    return this.#call({ method: 'POST', path: `${ALERTS}/${id}/redeliver` }, 'fired_at');
  }

  silences = () => this.#get<ItemsBody<SilenceBody>>(SILENCES, 'items');

  createSilence(silence: SilenceRequest): Promise<Answer<SilenceBody>> {
    return this.#call({ method: 'POST', path: SILENCES, json: silence }, 'until');
  }

  deleteSilence(id: number): Promise<Answer<SilenceBody>> {
    return this.#call({ method: 'DELETE', path: `${SILENCES}/${id}` }, 'until');
  }

  updateCleanupConfig(
    id: number,
    patch: { readonly retention_days?: number; readonly enabled?: boolean },
  ): Promise<Answer<RetentionBody>> {
    return this.#call({ method: 'PUT', path: `/data-cleanup-configs/${id}`, json: patch }, 'id');
  }

  triggerCleanup(): Promise<Answer<{ readonly run_id: string }>> {
    return this.#call({ method: 'POST', path: '/data-cleanup/trigger' }, 'run_id');
  }

  cancelCleanup(): Promise<Answer<CleanupProgressBody>> {
    return this.#call({ method: 'POST', path: '/data-cleanup/cancel' }, 'batches');
  }

  triggerSingle(taskType: TaskType, cardId: number): Promise<Answer<TriggerBody>> {
    const json = { card_id: cardId, task_type: taskType };
    return this.#call({ method: 'POST', path: `${TRIGGERS}/single`, json }, 'trigger_id');
  }

  triggerBatch(taskType: TaskType, cardIds: readonly number[]): Promise<Answer<BatchBody>> {
    const json = { card_ids: cardIds, task_type: taskType };
    return this.#call({ method: 'POST', path: `${TRIGGERS}/batch`, json }, 'unknown_card_ids');
  }

  triggerByCondition(taskType: TaskType, selection: Selection): Promise<Answer<TriggerBody>> {
    const json = { task_type: taskType, ...given(selection) };
    return this.#call({ method: 'POST', path: `${TRIGGERS}/by-condition`, json }, 'trigger_id');
  }

  countSelected(selection: Selection): Promise<Answer<SelectionCountBody>> {
    const query = Object.entries(given(selection)).map(([name, value]) => `${name}=${value}`);
    return this.#get(`${TRIGGERS}/preview?${query.join('&')}`, 'matching');
  }

  cancelTrigger(triggerId: string): Promise<Answer<TriggerBody>> {
    const json = { trigger_id: triggerId };
    return this.#call({ method: 'POST', path: `${TRIGGERS}/cancel`, json }, 'trigger_id');
  }

  /** Sends the cards as they are read. Has no deadline: an import takes as long as it takes. */
  importCards(cards: Readable, format: ImportFormat, dryRun: boolean): Promise<Answer<ImportBody>> {
    const headers = { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' };
    const path = `/cards/import${dryRun ? '?dry_run=true' : ''}`;
    const call = { method: 'POST', path, stream: cards, headers, timeoutMs: null } as const;
    return this.#call(call, 'received');
  }

  /** @param afterId cards with a higher id; an answer may hold fewer than `limit` although there are more. */
  cards(filter: CardQuery, afterId: number, limit: number): Promise<Answer<CardListBody>> {
    const query = new URLSearchParams({ ...textsOf(filter), after_id: `${afterId}`, limit: `${limit}` });
    return this.#get<CardListBody>(`/cards?${query}`, 'next_after_id');
  }

  /** The cards as they arrive. Has no deadline once they do: an export takes as long as its reader takes. */
  async *exportCards(filter: CardQuery, format: ImportFormat): AsyncGenerator<Buffer> {
    const query = new URLSearchParams({ ...textsOf(filter), format });
    const call = { method: 'GET', path: `/cards/export?${query}`, timeoutMs: null } as const;
    const response = await this.#attempt(call, (target, outgoing) => open(target, outgoing));
    const { statusCode: status = 0 } = response;
    if (status !== 200) throw errorOfAnswer(this.options.url, status, await readBounded(response));
    try {
      yield* response;
    } catch (error) {
      if (this.options.signal.aborted) throw this.options.signal.reason;
      throw endedEarly(this.options.url, error);
    }
  }

  #get<Body>(path: string, proof: keyof Body): Promise<Answer<Body>> {
    return this.#call<Body>({ method: 'GET', path }, proof);
  }

  /** @param proof a field that every such answer of a cardpoll has, and of other servers hardly any. */
  async #call<Body>(call: Call, proof: keyof Body): Promise<Answer<Body>> {
    const text = await this.#answer(call);
    const body = objectIn(text);
    if (body === null || !(proof in body)) throw notCardpoll(this.options.url);
    return { text, body: body as Body };
  }

  /** The body of an answer that says yes. */
  async #answer(call: Call): Promise<string> {
    const { status, text } = await this.#exchange(call);
    if (status < 200 || status > 299) throw errorOfAnswer(this.options.url, status, text);
    return text;
  }

  #exchange(call: Call): Promise<Incoming> {
    const once = repeats(call);
    return this.#attempt(call, once ? exchangeAgainAfterReset : exchange);
  }

  async #attempt<Result>(
    call: Call,
    send: (target: URL, outgoing: Outgoing) => Promise<Result>,
  ): Promise<Result> {
    const { signal, timeoutMs } = this.options;
    const limitMs = call.timeoutMs === undefined ? timeoutMs : call.timeoutMs;
    const deadline = limitMs === null ? null : AbortSignal.timeout(limitMs);
    const either = deadline === null ? signal : AbortSignal.any([signal, deadline]);
    try {
      return await this.#send(call, either, send);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof CardpollError) throw error;
      if (deadline?.aborted === true) throw tooSlow(this.options.url, limitMs ?? 0, error);
      throw unreachable(this.options.url, error);
    }
  }

  #send<Result>(
    call: Call,
    signal: AbortSignal,
    send: (target: URL, outgoing: Outgoing) => Promise<Result>,
  ): Promise<Result> {
    const { url, token } = this.options;
    const { method, path, json, stream, headers } = call;
    const body = json === undefined ? null : JSON.stringify(json);
    return send(new URL(`${url}${ADMIN}${path}`), {
      method,
      headers: {
        accept: 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(repeats(call) ? { 'idempotency-key': randomUUID() } : {}),
        ...(body === null
          ? {}
          : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }),
        ...headers,
      },
      body: stream ?? body,
      signal,
    });
  }
}

/** A POST that may be sent twice: its key lets it run only once. */
function repeats({ method, stream }: Call): boolean {
  return method === 'POST' && stream === undefined;
}

function textsOf(filter: CardQuery): Record<string, string> {
  return Object.fromEntries(Object.entries(given(filter)).map(([name, value]) => [name, String(value)]));
}

function given(selection: Selection): Partial<Selection> {
  return Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== null));
}

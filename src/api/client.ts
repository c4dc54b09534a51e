// Client of the admin API, used by the command line. One method an endpoint; answers keep the body exactly as it was
// sent. Problems become CardpollErrors of the kind the server meant. Never retries.
import type { Readable } from 'node:stream';
import type { PollingConfig } from '../domain/polling-config.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { ImportFormat, ImportReport } from '../operations/card-import.ts';
import type { CardReport } from '../operations/cards.ts';
import type { ConcurrencyLimit, SlotReset } from '../operations/concurrency.ts';
import type { InitReport } from '../operations/init-report.ts';
import type { Overview } from '../operations/stats.ts';
import type { QueueStats, TaskStats } from '../operations/task-stats.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { errorOfAnswer, notCardpoll, objectIn } from './client-errors.ts';
import { exchange, type Incoming } from './client-transport.ts';
import type { Wire } from './wire.ts';

export type OverviewBody = Wire<Overview>;
export type QueueBody = Wire<QueueStats>;
export type TaskBody = Wire<TaskStats>;
export type InitBody = Wire<InitReport>;
export type ConcurrencyBody = Wire<ConcurrencyLimit>;
export type ResetBody = Wire<SlotReset>;
export type ConfigBody = Wire<PollingConfig>;
export type CardBody = Wire<CardReport>;
export type ImportBody = Wire<ImportReport>;
export interface ItemsBody<Item> {
  readonly items: readonly Item[];
}

export interface Answer<Body> {
  readonly body: Body;
  /** The body as it was sent. */
  readonly text: string;
}

export interface ApiClientOptions {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly token: string | null;
  /** For one whole answer. */
  readonly timeoutMs: number;
  /** Aborts what is under way; the calls then throw its reason. */
  readonly signal: AbortSignal;
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly json?: unknown;
  readonly stream?: Readable;
  readonly headers?: Record<string, string>;
  /** Replaces the deadline of the options; null: none. */
  readonly timeoutMs?: number | null;
}

const ADMIN = '/api/admin';
/** Lists of the API are paged; what the command line shows fits one page of the largest size. */
const LARGEST_PAGE = 'page_size=100';

/** All methods throw CardpollError: `unavailable` when nothing usable answers, otherwise what the server said. */
export class ApiClient {
  constructor(private readonly options: ApiClientOptions) {}

  overview = () => this.#get<OverviewBody>('/polling-stats', 'tasks');
  queues = () => this.#get<ItemsBody<QueueBody>>('/polling-stats/queues', 'items');
  tasks = () => this.#get<ItemsBody<TaskBody>>('/polling-stats/tasks', 'items');
  initProgress = () => this.#get<InitBody>('/polling-stats/init-progress', 'status');
  concurrency = () => this.#get<ItemsBody<ConcurrencyBody>>('/polling-concurrency', 'items');
  configs = () => this.#get<ItemsBody<ConfigBody>>(`/polling-configs?${LARGEST_PAGE}`, 'items');
  card = (idOrIccid: string) => this.#get<CardBody>(`/cards/${encodeURIComponent(idOrIccid)}`, 'card_id');

  setConcurrency(taskType: TaskType, maxConcurrency: number): Promise<Answer<ConcurrencyBody>> {
    const json = { max_concurrency: maxConcurrency };
    return this.#call({ method: 'PUT', path: `/polling-concurrency/${taskType}`, json }, 'task_type');
  }

  resetConcurrency(taskType: TaskType): Promise<Answer<ResetBody>> {
    const json = { task_type: taskType };
    return this.#call({ method: 'POST', path: '/polling-concurrency/reset', json }, 'task_type');
  }

  updateConfig(
    id: number,
    patch: { readonly status?: 0 | 1; readonly interval_seconds?: number },
  ): Promise<Answer<ConfigBody>> {
    return this.#call({ method: 'PUT', path: `/polling-configs/${id}`, json: patch }, 'id');
  }

  /** Sends the cards as they are read. Has no deadline: an import takes as long as it takes. */
  importCards(cards: Readable, format: ImportFormat, bytes: number): Promise<Answer<ImportBody>> {
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    const headers = { 'content-type': type, 'content-length': String(bytes) };
    const call = { method: 'POST', path: '/cards/import', stream: cards, headers, timeoutMs: null } as const;
    return this.#call(call, 'received');
  }

  #get<Body>(path: string, proof: keyof Body): Promise<Answer<Body>> {
    return this.#call<Body>({ method: 'GET', path }, proof);
  }

  /** @param proof a field that every such answer of a cardpoll has, and of other servers hardly any. */
  async #call<Body>(call: Call, proof: keyof Body): Promise<Answer<Body>> {
    const { url } = this.options;
    const { status, text } = await this.#exchange(call);
    if (status < 200 || status > 299) throw errorOfAnswer(url, status, text);
    const body = objectIn(text);
    if (body === null || !(proof in body)) throw notCardpoll(url);
    return { text, body: body as Body };
  }

  async #exchange(call: Call): Promise<Incoming> {
    const { signal, timeoutMs } = this.options;
    const limitMs = call.timeoutMs === undefined ? timeoutMs : call.timeoutMs;
    const deadline = limitMs === null ? null : AbortSignal.timeout(limitMs);
    const either = deadline === null ? signal : AbortSignal.any([signal, deadline]);
    try {
      return await this.#send(call, either);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof CardpollError) throw error;
      throw this.#unreachable(deadline?.aborted ? `no answer within ${limitMs} ms` : messageOf(error), error);
    }
  }

  #send({ method, path, json, stream, headers }: Call, signal: AbortSignal): Promise<Incoming> {
    const { url, token } = this.options;
    const body = json === undefined ? null : JSON.stringify(json);
    return exchange(new URL(`${url}${ADMIN}${path}`), {
      method,
      headers: {
        accept: 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === null
          ? {}
          : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }),
        ...headers,
      },
      body: stream ?? body,
      signal,
    });
  }

  #unreachable(reason: string, cause: unknown): CardpollError {
    const message = `cannot reach the daemon at ${this.options.url}: ${reason}`;
    return new CardpollError('unavailable', 'daemon_unreachable', message, {
      hint: 'start it with `cardpoll daemon`, or say where it listens with --url or CARDPOLL_URL',
      cause,
    });
  }
}

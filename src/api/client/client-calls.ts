// How the client calls the admin API: one deadline per answer, the token, errors of the right kind. endpoints.ts has the
// endpoints. Uses Node's own HTTP client instead of undici: it loads in a tenth of the time, and loading is most of the life of a
// command with a single request. Only a POST is repeated, until its outcome is known or its time is over: its Idempotency-Key
// makes sure that it takes effect once, however often it is sent.
import { randomUUID } from 'node:crypto';
import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import { objectIn } from '../../platform/json.ts';
import { linesOf } from '../../platform/lines.ts';
import { VERSION_HEADER } from '../../resources/endpoints.ts';
import { endedEarly, errorOfAnswer, notCardpoll, tooSlow, unreachable } from './client-errors.ts';

export interface Answer<Body> {
  readonly body: Body;
  /** The raw body. */
  readonly text: string;
}

export interface ApiClientOptions {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly token: string | null;
  /** Source of the token; null: no token. */
  readonly tokenFrom: string | null;
  /** Time limit for one whole answer. */
  readonly timeoutMs: number;
  /** Aborts the running calls, which then throw its reason. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
}

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: unknown;
  readonly stream?: Readable;
  readonly headers?: Record<string, string>;
  /** Replaces the deadline of the options; null: no deadline. */
  readonly timeoutMs?: number | null;
}

const ADMIN = '/api/admin';

/** Outside the admin API. */
const VERSION_PATH = '/../../version';
const NO_CONTENT = 204;

export class ApiCalls {
  #saysItIs = false;

  constructor(private readonly options: ApiClientOptions) {}

  async call<Body>(call: Call): Promise<Answer<Body>> {
    const { url, clock } = this.options;
    const send = repeats(call) ? (what: Outgoing) => exchangeUntilDone(what, clock) : exchange;
    const { status, headers, text } = await this.#attempt(call, send);
    if (status < 200 || status > 299) throw errorOfAnswer(this.options, status, text);
    await this.#requireCardpoll(headers, call);
    const body = objectIn(text);
    if (body === null && status !== NO_CONTENT) throw notCardpoll(url);
    return { text, body: body as Body };
  }

  /** The body as it arrives, after a status of success. */
  async *stream(call: Call): AsyncGenerator<Buffer> {
    const response = await this.#attempt(call, open);
    const { statusCode: status = 0 } = response;
    if (status !== 200) throw errorOfAnswer(this.options, status, await readBounded(response));
    try {
      await this.#requireCardpoll(response.headers, call);
    } catch (error) {
      response.destroy();
      throw error;
    }
    try {
      yield* response;
    } catch (error) {
      if (this.options.signal.aborted) throw this.options.signal.reason;
      throw endedEarly(this.options.url, error);
    }
  }

  /** The JSON objects of an answer with one per line, as they arrive, in groups. */
  async *objects(call: Call): AsyncGenerator<ReadonlyArray<Record<string, unknown>>> {
    for await (const lines of linesOf(this.stream(call))) {
      yield lines.map((line) => {
        const object = objectIn(line);
        if (object === null) throw notCardpoll(this.options.url);
        return object;
      });
    }
  }

  /** An older daemon does not name its version in each answer, so it is asked once. */
  async #requireCardpoll(headers: IncomingHttpHeaders, { method }: Call): Promise<void> {
    if (headers[VERSION_HEADER] !== undefined || this.#saysItIs) return;
    const asked = await this.#attempt({ method: 'GET', path: VERSION_PATH }, exchange).catch((error) => {
      if (method === 'GET') throw error;
      return null;
    });
    // A change was answered: a failure to ask the daemon does not undo it.
    if (asked === null) return;
    if (objectIn(asked.text)?.name !== 'cardpoll') throw notCardpoll(this.options.url);
    this.#saysItIs = true;
  }

  async #attempt<Result>(call: Call, send: (outgoing: Outgoing) => Promise<Result>): Promise<Result> {
    const { signal, timeoutMs } = this.options;
    const limitMs = call.timeoutMs === undefined ? timeoutMs : call.timeoutMs;
    const deadline = limitMs === null ? null : AbortSignal.timeout(limitMs);
    try {
      return await send(
        this.#outgoing(call, deadline === null ? signal : AbortSignal.any([signal, deadline])),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof CardpollError) throw error;
      if (deadline?.aborted === true) throw tooSlow(this.options.url, limitMs ?? 0, error);
      throw unreachable(this.options.url, error);
    }
  }

  #outgoing(call: Call, signal: AbortSignal): Outgoing {
    const { url, token } = this.options;
    const { method, path, json, stream, headers } = call;
    const body = json === undefined ? null : JSON.stringify(json);
    return {
      target: new URL(`${url}${ADMIN}${path}`),
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
    };
  }
}

/** True for a POST that may be sent twice: its key lets it run only once. */
function repeats({ method, stream }: Call): boolean {
  return method === 'POST' && stream === undefined;
}

interface Outgoing {
  readonly target: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable | null;
  readonly signal: AbortSignal;
}

interface Incoming {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const ASK_AGAIN_MS = 1_000;
const BROKEN_CONNECTION = new Set(['ECONNRESET', 'EPIPE']);
/**
 * Codes of answers that came before the work had ended (answer-in-time.ts), and of a daemon of release 0.2 for a repeat while the
 * first attempt runs.
 */
const UNFINISHED: readonly unknown[] = ['store_timeout', 'idempotency_request_running'];

/** Answers to a repeat that give no information about the change: too many requests, or a daemon or store that is down. */
const TELLING_NOTHING = new Set([429, 503]);

/** Rejects with the driver's error when the exchange fails, and with `unavailable` for an answer that does not end. */
async function exchange(outgoing: Outgoing): Promise<Incoming> {
  const response = await open(outgoing);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await readBounded(response) };
}

/**
 * Rejects as `exchange` does while no answer has come. If the end of the change can no longer be learned, because the time of the
 * signal is over or the daemon is down, the first answer is returned: the change may still be made.
 */
async function exchangeUntilDone(outgoing: Outgoing, clock: Pick<Clock, 'sleep'>): Promise<Incoming> {
  const { signal } = outgoing;
  const first = await exchangeAgainAfterReset(outgoing);
  try {
    for (let heard = first; ; heard = await exchangeAgainAfterReset(outgoing)) {
      if (!isUnfinished(heard)) return heard !== first && TELLING_NOTHING.has(heard.status) ? first : heard;
      await clock.sleep(ASK_AGAIN_MS, signal);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted && !isOver(signal)) throw error;
    return first;
  }
}

/** Sends a second time when the connection broke before the answer. */
async function exchangeAgainAfterReset(outgoing: Outgoing): Promise<Incoming> {
  try {
    return await exchange(outgoing);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (outgoing.signal.aborted || !BROKEN_CONNECTION.has(code ?? '')) throw error;
    return exchange(outgoing);
  }
}

function isUnfinished({ status, text }: Incoming): boolean {
  return status >= 400 && UNFINISHED.includes(objectIn(text)?.code);
}

function isOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof DOMException && reason.name === 'TimeoutError';
}

/**
 * Like Node's own agent, which would send these calls through a proxy when NODE_USE_ENV_PROXY is set. The daemon is not behind
 * it.
 */
const KEPT_ALIVE = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;
/** Agents by protocol. */
const agents = new Map<string, Agent>();

/** The answer as it begins to arrive; the caller reads it. */
async function open({ target, body, ...how }: Outgoing): Promise<IncomingMessage> {
  const { request, Agent } =
    target.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const agent = agents.get(target.protocol) ?? new Agent(KEPT_ALIVE);
  agents.set(target.protocol, agent);
  return new Promise((resolve, reject) => {
    const sent = request(target, { ...how, agent }, resolve);
    sent.on('error', reject);
    if (body === null || typeof body === 'string') {
      sent.end(body ?? undefined);
      return;
    }
    // A server that refuses early closes while the client still sends: its answer counts, not the broken pipe.
    pipeline(body, sent, (error) => {
      if (error) reject(error);
    });
  });
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new CardpollError(
        'unavailable',
        'answer_too_large',
        'the answer of the daemon is too large to be one',
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

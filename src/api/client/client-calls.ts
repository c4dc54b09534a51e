// How the client of the admin API calls it: one deadline an answer, the token, errors of the kind that was meant. Repeats
// nothing but a POST (client-transport.ts). What is called stands in client.ts.
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import { endedEarly, errorOfAnswer, notCardpoll, objectIn, tooSlow, unreachable } from './client-errors.ts';
import {
  exchange,
  exchangeUntilDone,
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

export interface ApiClientOptions {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly token: string | null;
  /** For one whole answer. */
  readonly timeoutMs: number;
  /** Aborts what is under way; the calls then throw its reason. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
}

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: unknown;
  readonly stream?: Readable;
  readonly headers?: Record<string, string>;
  /** Replaces the deadline of the options; null: none. */
  readonly timeoutMs?: number | null;
}

const ADMIN = '/api/admin';

export class ApiCalls {
  constructor(private readonly options: ApiClientOptions) {}

  /** @param proof a field that every such answer of a cardpoll has, and hardly any answer of another server. */
  get = <Body>(path: string, proof: keyof Body) => this.call<Body>({ method: 'GET', path }, proof);
  put = <Body>(path: string, proof: keyof Body, json: object) =>
    this.call<Body>({ method: 'PUT', path, json }, proof);
  post = <Body>(path: string, proof: keyof Body, json?: object) =>
    this.call<Body>({ method: 'POST', path, json }, proof);
  delete = <Body>(path: string, proof: keyof Body) => this.call<Body>({ method: 'DELETE', path }, proof);

  async call<Body>(call: Call, proof: keyof Body): Promise<Answer<Body>> {
    const text = await this.answer(call);
    const body = objectIn(text);
    if (body === null || !(proof in body)) throw notCardpoll(this.options.url);
    return { text, body: body as Body };
  }

  /** The body of an answer that says yes. */
  async answer(call: Call): Promise<string> {
    const { status, text } = await this.#exchange(call);
    if (status < 200 || status > 299) throw errorOfAnswer(this.options.url, status, text);
    return text;
  }

  /** The body as it arrives, once the answer says yes. */
  async *stream(call: Call): AsyncGenerator<Buffer> {
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

  /** The JSON objects of an answer with one a line, as they arrive: all that came together. */
  async *objects(call: Call): AsyncGenerator<ReadonlyArray<Record<string, unknown>>> {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for await (const piece of this.stream(call)) {
      const lines = (rest + decoder.write(piece)).split('\n');
      rest = lines.pop() ?? '';
      yield lines.map((line) => this.#objectOf(line));
    }
    if (rest !== '') yield [this.#objectOf(rest)];
  }

  #objectOf(line: string): Record<string, unknown> {
    const object = objectIn(line);
    if (object === null) throw notCardpoll(this.options.url);
    return object;
  }

  #exchange(call: Call): Promise<Incoming> {
    const { clock } = this.options;
    return this.#attempt(call, repeats(call) ? (to, what) => exchangeUntilDone(to, what, clock) : exchange);
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

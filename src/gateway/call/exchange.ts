// One HTTP request and its answer, as an undici handler; the sweep that ends exchanges at their deadline; and the error of a
// status outside 2xx. Used by the client only; it knows nothing of envelopes, cards or logs.
//
// undici's dispatch() with its own handler costs about a fifth less than request(): no body stream, no abort signal. One coarse
// timer for all exchanges replaces a timer per call; it runs only while a call is in flight, and an exchange ends at most
// SWEEP_MS after its deadline.
import type { IncomingHttpHeaders } from 'node:http';
import { TextDecoder } from 'node:util';
import { type Dispatcher, errors } from 'undici';
import { REFUSED_CREDENTIALS } from '../../domain/gateway-fault.ts';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import { messageOf } from '../../platform/errors.ts';
import { GatewayError } from '../gateway.ts';
import { connectionKind } from '../request/connection-fault.ts';
import { tooLong, unpacked } from '../request/unpack.ts';
import type { BodyError } from './answer.ts';

export const NO_CONNECTION = 'no connection within the deadline';

const SWEEP_MS = 20;
const NO_BYTES = Buffer.alloc(0);
/** Some gateways start their JSON with it; JSON.parse refuses it. */
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Life of an exchange: waiting for a connection -> sent (`#controller` set) -> status known -> settled. `fail` may
 * settle it at any point; after that, later reports from undici are ignored, and a request that was waiting for a
 * connection is withdrawn when it would be sent. `settled` is called exactly once.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** 0 until a status line arrived. */
  status = 0;
  headers: IncomingHttpHeaders = {};
  error: GatewayError | null = null;
  #body: Buffer = NO_BYTES;
  /** Decodes the charset that the answer names; null: UTF-8. */
  #decoder: TextDecoder | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #done = false;

  constructor(
    private readonly route: { readonly name: InterfaceName; readonly maxBytes: number },
    readonly startedAt: number,
    readonly deadlineAt: number,
    /** The request must be sent by this time or not at all; Infinity for a call without an effect. */
    private readonly sendBy: number,
    private readonly monotonic: () => number,
    /** All connections were in use at the start, so the exchange may wait for one. */
    private readonly mayQueue: boolean,
    private readonly settled: (exchange: Exchange) => void,
  ) {}

  get interfaceName(): InterfaceName {
    return this.route.name;
  }

  get body(): string {
    if (this.#decoder !== null) return this.#decoder.decode(this.#body);
    const text = this.#body.toString();
    return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The sweep may be late (a paused process), and a request past its time must not be sent.
    if (this.monotonic() >= this.endsAt) this.expire();
    // Thrown before the first byte, which keeps the connection usable. An abort would close it.
    if (this.#done) throw lateError();
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    const charset = /charset="?([\w-]+)/i.exec(headers['content-type'] ?? '')?.[1];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) this.#decodeAs(charset);
    this.headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    // Nearly every answer is a single chunk, which is kept without a copy.
    this.#body = this.#body.length === 0 ? chunk : Buffer.concat([this.#body, chunk]);
    const { maxBytes } = this.route;
    if (this.#body.length > maxBytes) this.fail(tooLong(maxBytes));
  }

  onResponseEnd(): void {
    this.#unpack();
    this.#settle();
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    this.error ??= transportError(cause, this.#controller !== null);
    this.#settle();
  }

  /** End of the exchange: its deadline, or the time by which it must be sent. */
  get endsAt(): number {
    return this.#controller === null ? Math.min(this.sendBy, this.deadlineAt) : this.deadlineAt;
  }

  /** Ends the exchange at its time. An unsent request got no connection. */
  expire(): void {
    this.fail(this.#controller === null ? this.#unsentError() : lateError());
  }

  /** Ends the exchange before its deadline, to free its slot. */
  endEarly(afterMs: number): void {
    const slow = `no answer within ${Math.round(afterMs)} ms, while many calls are as slow: ended to make room`;
    this.fail(new GatewayError('timeout', slow));
  }

  /** Ends the exchange and, if it was sent, its connection. */
  fail(error: GatewayError): void {
    if (this.#done) return;
    this.error = error;
    this.#settle();
    this.#controller?.abort(error);
  }

  #unsentError(): GatewayError {
    if (this.sendBy < Number.POSITIVE_INFINITY)
      return new GatewayError('held', 'the call could not be sent in time, so it was not made');
    return this.mayQueue ? lateError() : new GatewayError('connect', NO_CONNECTION);
  }

  #decodeAs(charset: string): void {
    try {
      this.#decoder = new TextDecoder(charset);
    } catch {
      this.error = new GatewayError('malformed', `the charset ${charset} of the answer is not known`);
    }
  }

  #unpack(): void {
    try {
      const encoding = this.headers['content-encoding'];
      this.#body = unpacked(
        this.#body,
        encoding === undefined ? null : String(encoding),
        this.route.maxBytes,
      );
    } catch (error) {
      this.error = error as GatewayError;
      this.#body = NO_BYTES;
    }
  }

  #settle(): void {
    if (this.#done) return;
    this.#done = true;
    this.settled(this);
  }
}

function lateError(): GatewayError {
  return new GatewayError('timeout', 'no answer within the deadline');
}

/** @param sent whether the request had a connection */
function transportError(cause: Error, sent: boolean): GatewayError {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const message = messageOf(cause);
  const said = message.includes(code) ? message : `${code} ${message}`.trim();
  if (cause instanceof errors.ClientDestroyedError || cause instanceof errors.ClientClosedError) {
    return new GatewayError('aborted', 'the gateway client was closed', { cause });
  }
  const unreadable =
    cause instanceof errors.HTTPParserError ||
    cause instanceof errors.HeadersOverflowError ||
    cause instanceof errors.ResponseContentLengthMismatchError;
  if (unreadable) return new GatewayError('malformed', `not HTTP: ${said}`, { cause });
  return sent
    ? new GatewayError('network', said, { cause })
    : new GatewayError('connect', said, { cause, kind: connectionKind(cause) });
}

/** Share of the calls in flight that may be slow when the limit is reached. */
const SLOW_SHARE = 0.25;

/** Ends exchanges that are past their deadline, and slow ones when room is needed. */
export class DeadlineSweep {
  readonly #inFlight = new Set<Exchange>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly monotonic: () => number) {}

  get inFlight(): number {
    return this.#inFlight.size;
  }

  add(exchange: Exchange): void {
    this.#inFlight.add(exchange);
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS);
  }

  delete(exchange: Exchange): void {
    this.#inFlight.delete(exchange);
  }

  /** See UpstreamGateway. The set keeps the order in which exchanges began. */
  endSlow(interfaceName: InterfaceName, olderThanMs: number): void {
    const now = this.monotonic();
    const slow: Exchange[] = [];
    let all = 0;
    for (const exchange of this.#inFlight) {
      if (exchange.interfaceName !== interfaceName) continue;
      all += 1;
      if (now - exchange.startedAt > olderThanMs) slow.push(exchange);
    }
    const tooMany = slow.length - Math.ceil(SLOW_SHARE * all);
    for (const exchange of slow.slice(0, Math.max(0, tooMany))) exchange.endEarly(now - exchange.startedAt);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #sweep(): void {
    if (this.#inFlight.size === 0) {
      this.stop();
      return;
    }
    const now = this.monotonic();
    for (const exchange of this.#inFlight) {
      if (exchange.endsAt <= now) exchange.expire();
    }
  }
}

const OF_CREDENTIALS = [401, 403, 419, 440];

/**
 * The error of an HTTP status outside 2xx. 401 and 403 mean wrong credentials, 419 and 440 an expired session (Laravel, IIS), so
 * every card would fail: the gateway's fault, not the card's. So are 408 and redirects, which are never followed. 404 is the
 * card's fault: the gateway does not know the card.
 */
export function statusError({ status, headers }: Pick<Exchange, 'status' | 'headers'>): GatewayError {
  if (status === 429 || status === 503) return new GatewayError('backpressure', `HTTP ${status}`);
  if (OF_CREDENTIALS.includes(status)) {
    return new GatewayError('auth', `HTTP ${status}: ${REFUSED_CREDENTIALS}`);
  }
  if (status >= 300 && status < 400) {
    return new GatewayError('http', `${redirectWords({ status, headers })}: redirects are not followed`);
  }
  const cardProblem = status >= 400 && status < 500 && status !== 408;
  return new GatewayError(cardProblem ? 'card' : 'http', `HTTP ${status}`);
}

/** Shows only the origin and path: the query may contain a sign-in ticket, and the part before the host a password. */
export function redirectWords({ status, headers }: Pick<Exchange, 'status' | 'headers'>): string {
  const to = String(headers.location ?? '')
    .replace(/[?#].*/s, '')
    .replace(/\/\/[^/]*@/, '//');
  return `HTTP ${status}${to && ` to ${to}`}`;
}

/** @param said error in the body; a code that the profile lists is more informative than the status. null: none. */
export function withCode(byStatus: GatewayError, said: BodyError | null): GatewayError {
  if (said === null) return byStatus;
  const failure = said.failure ?? byStatus.failure;
  return new GatewayError(failure, `${byStatus.message}: ${said.reason}`, {
    isUnknownCard: said.failure === 'card',
  });
}

// One HTTP request and its answer, as an undici handler, and the sweep that ends exchanges at their deadline. Used by
// the client only; it knows nothing of envelopes, cards or logs.
//
// undici's dispatch() with a handler of its own costs about a fifth less than request(): no body stream, no abort signal.
// One coarse timer for all exchanges replaces a timer per call; it runs only while something is in flight, and an
// exchange ends at most SWEEP_MS after its deadline.
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import type { InterfaceName } from '../domain/gateway-interface.ts';
import { messageOf } from '../platform/errors.ts';
import { GatewayError } from './gateway.ts';
import type { RetryAfter } from './http-status.ts';

const SWEEP_MS = 20;
const NO_BYTES = Buffer.alloc(0);

/**
 * Life of an exchange: waiting for a connection -> sent (`#controller` set) -> status known -> settled. `fail` may
 * settle it at any point; after that, later reports from undici are ignored, and a request that was waiting for a
 * connection is withdrawn when it would be sent. `settled` is called exactly once.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** 0 until a status line arrived. */
  status = 0;
  retryAfter: RetryAfter = { value: null, date: null };
  error: GatewayError | null = null;
  #body: Buffer = NO_BYTES;
  /** As the answer names it; null: UTF-8. */
  #charset: string | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #done = false;

  constructor(
    readonly interfaceName: InterfaceName,
    readonly startedAt: number,
    readonly deadlineAt: number,
    private readonly monotonic: () => number,
    private readonly maxBytes: number,
    /** All connections were in use when the exchange began, so it may wait for one of them. */
    private readonly mayQueue: boolean,
    private readonly settled: (exchange: Exchange) => void,
  ) {}

  /** @throws GatewayError `malformed` for a charset that is not known. */
  get body(): string {
    return this.#charset === null ? this.#body.toString() : decoded(this.#body, this.#charset);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The sweep may be late (a process that was paused): a request past its deadline must not go out.
    if (this.monotonic() >= this.deadlineAt) this.fail(lateError());
    if (this.#done) controller.abort(lateError());
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    const charset = /charset="?([\w-]+)/i.exec(headers['content-type'] ?? '')?.[1];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) this.#charset = charset;
    if (headers['retry-after'] !== undefined)
      this.retryAfter = { value: headers['retry-after'], date: headers.date ?? null };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    // Nearly every answer is a single chunk, which is kept as it is.
    this.#body = this.#body.length === 0 ? chunk : Buffer.concat([this.#body, chunk]);
    if (this.#body.length > this.maxBytes) {
      this.fail(new GatewayError('malformed', `the answer is longer than ${this.maxBytes} bytes`));
    }
  }

  onResponseEnd(): void {
    this.#settle();
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    this.error ??= transportError(cause, this.#controller !== null);
    this.#settle();
  }

  /** Ends the exchange at its deadline. If it was not sent by then, it got no connection. */
  expire(): void {
    const unconnected = this.#controller === null && !this.mayQueue;
    this.fail(unconnected ? new GatewayError('connect', 'no connection within the deadline') : lateError());
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

  #settle(): void {
    if (this.#done) return;
    this.#done = true;
    this.settled(this);
  }
}

function decoded(body: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    throw new GatewayError('malformed', `the charset ${charset} of the answer is not known`);
  }
}

function lateError(): GatewayError {
  return new GatewayError('timeout', 'no answer within the deadline');
}

/** @param sent whether there was a connection */
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
  return new GatewayError(sent ? 'network' : 'connect', said, { cause });
}

/** Share of the calls in flight that may be slow while the limit is used up. */
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
      if (exchange.deadlineAt <= now) exchange.expire();
    }
  }
}

// The gateway client: one HTTP call for one card or for a batch of cards, bounded in time and size, and logged. Opened by
// wiring, used by the engine's tasks. It never retries (retries go through the queue) and never follows redirects.

import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { GatewayConfig, GatewayCredentials } from '../../domain/gateway/gateway-config.ts';
import {
  INTERFACES,
  type InterfaceName,
  notOfferedWords,
  perInterface,
} from '../../domain/gateway-interface.ts';
import { GATEWAY_CALL } from '../../domain/log-phrases.ts';
import { messageOf } from '../../platform/errors.ts';
import { type TokenDeps, type Tokens, tokensOf } from '../auth/tokens.ts';
import {
  type CalledCard,
  type GatewayAnswer,
  GatewayError,
  type GatherDeps,
  type Pass,
  type UpstreamGateway,
} from '../gateway.ts';
import { ConnectionSight } from '../request/connection-fault.ts';
import { PoolConnections, poolOf, Seat } from '../request/connections.ts';
import { Origin, type OriginPool } from '../request/origin-pool.ts';
import { type GatewayRequest, maskFor, type Proof } from '../request/request.ts';
import { parseRetryAfter } from '../request/retry-after.ts';
import { cleanText } from './clean-text.ts';
import { DeadlineSweep, Exchange, NO_CONNECTION, statusError, withCode } from './exchange.ts';
import { type Route, type RouteDeps, routeOf } from './interface-route.ts';
import { readByModule, watchedModule } from './module-calls.ts';
import { signedOut } from './session-end.ts';

export type GatewayClientDeps = RouteDeps & TokenDeps;
/** A finished call, for `cardpoll gateway try`. */
export type CallTrace = Pick<Ended, 'status' | 'body'> & { readonly request: GatewayRequest };

/** After a name look-up of this length, the name server counts as the reason for calls without a connection. */
const UNANSWERED_MS = 500;

type Cards = readonly [CalledCard, ...CalledCard[]];
/** A finished call. */
interface Ended {
  /** The proof that the call was sent with; null: none. */
  readonly proof: Proof | null;
  /** null: no request was made. */
  readonly request: GatewayRequest | null;
  /** 0: no answer. */
  readonly status: number;
  /** Empty: no answer. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Why there is no usable answer; null: the status is 2xx, and the body is complete. */
  readonly error: GatewayError | null;
  readonly durationMs: number;
}

/** An answer, read for one card. */
interface Read {
  readonly value: GatewayAnswer['value'];
  readonly pendingForMs: number | null;
}

export class GatewayClient implements UpstreamGateway {
  readonly #origin: Origin;
  #pool: OriginPool;
  readonly #connections: PoolConnections<Exchange>;
  readonly #sweep: DeadlineSweep;
  #profile: GatewayConfig;
  /** null: the credentials are fixed, and part of the routes. */
  #tokens: Tokens | null;
  #routes: Readonly<Record<InterfaceName, Route | null>>;
  readonly #stopped: ReadonlySet<string>;
  readonly #monotonic = () => this.deps.clock.monotonic();
  readonly #sight = new ConnectionSight(this.#monotonic);

  /** @param onCall gets every call when it has ended; absent: no observer. */
  constructor(
    profile: GatewayConfig,
    private readonly deps: GatewayClientDeps,
    private readonly onCall?: (trace: CallTrace) => void,
  ) {
    this.#origin = new Origin(profile.url, deps.proxies);
    this.#pool = poolOf(this.#origin, profile, this.#sight);
    this.#connections = new PoolConnections(profile.maxConnections, deps.clock, this.#pool);
    this.#sweep = new DeadlineSweep(this.#monotonic);
    this.#profile = { ...profile, module: watchedModule(profile.module, deps) };
    this.#tokens = tokensOf(profile, deps);
    this.#routes = perInterface((name) => routeOf(this.#profile, name, deps));
    this.#stopped = new Set(profile.stoppedStatuses.map((status) => status.trim().toLowerCase()));
  }

  async call(name: InterfaceName, card: CalledCard, timeoutMs: number, pass?: Pass): Promise<GatewayAnswer> {
    const route = this.#offered(name);
    route.requireNamed(card);
    const ended = await this.#perform(route, [card], timeoutMs, pass);
    try {
      if (ended.error !== null) throw ended.error;
      return this.#succeeded(route, card, ended, this.#reader(route, [card], ended)(card.iccid));
    } catch (error) {
      throw this.#failed(route, card, ended, error);
    }
  }

  async callBatch(
    interfaceName: InterfaceName,
    cards: readonly CalledCard[],
    timeoutMs: number,
    pass?: Pass,
  ): Promise<ReadonlyArray<GatewayAnswer | GatewayError>> {
    const route = this.#offered(interfaceName);
    // A card may be requested twice at a time, by its schedule and manually.
    const different = [...new Map(cards.map((card) => [card.iccid, card])).values()] as unknown as Cards;
    const ended = await this.#perform(route, different, timeoutMs, pass);
    try {
      if (ended.error !== null) throw ended.error;
      const readCard = this.#reader(route, different, ended);
      return cards.map((card) => {
        try {
          return this.#succeeded(route, card, ended, readCard(card.iccid));
        } catch (error) {
          return this.#failed(route, card, ended, error);
        }
      });
    } catch (error) {
      const reason = this.#reasonOf(ended, error);
      const failures = cards.map((card) => this.#failed(route, card, ended, error, reason));
      throw failures[0] ?? error;
    }
  }

  gather(_: InterfaceName, withinMs: number, { signal }: GatherDeps = {}): Promise<Pass> {
    return this.#connections.seat(withinMs, signal);
  }

  async ready(): Promise<void> {
    if (this.#tokens?.proof() === null) await this.#tokens.prove().catch(() => {});
  }

  endSlowCalls(interfaceName: InterfaceName, olderThanMs: number): void {
    this.#sweep.endSlow(interfaceName, olderThanMs);
  }

  get certificateEndsMs(): number | null {
    return this.#sight.certificateEndsMs;
  }

  isStoppedStatus(cardStatus: string): boolean {
    return this.#stopped.has(cardStatus.trim().toLowerCase());
  }

  /** New calls, and calls that wait for a token, use these credentials. */
  replaceCredentials(credentials: GatewayCredentials): void {
    const profile = { ...this.#profile, ...credentials };
    if (isDeepStrictEqual(profile, this.#profile)) return;
    if (!isDeepStrictEqual(profile.tls, this.#profile.tls)) {
      void this.#pool.close();
      this.#pool = this.#connections.replacePool(poolOf(this.#origin, profile, this.#sight));
    }
    const tokens = tokensOf(profile, this.deps);
    void this.#tokens?.close(tokens);
    this.#profile = profile;
    this.#tokens = tokens;
    this.#routes = perInterface((name) => routeOf(profile, name, this.deps));
  }

  /** Closes the connections; calls still in flight fail as `aborted`. */
  async close(): Promise<void> {
    for (const exchange of this.#connections.waiting)
      exchange.fail(new GatewayError('aborted', 'the gateway client was closed'));
    await Promise.all([this.#pool.destroy(), this.#tokens?.close()]);
    this.#sweep.stop();
  }

  #offered(name: InterfaceName): Route {
    const route = this.#routes[name];
    if (route !== null) return route;
    throw new GatewayError('not_offered', notOfferedWords(name), { interfaceName: name });
  }

  /** Makes the call. Never throws: the result contains the error. */
  async #perform(route: Route, cards: Cards, timeoutMs: number, pass?: Pass): Promise<Ended> {
    const { clock } = this.deps;
    const startedAt = clock.monotonic();
    const deadlineAt = startedAt + Math.min(timeoutMs, route.timeoutMs);
    let proof: Proof | null = null;
    let request: GatewayRequest | null = null;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let body = '';
    let error: GatewayError | null = null;
    try {
      proof = this.#tokens && (this.#tokens.proof() ?? (await this.#tokens.proveBy(deadlineAt)));
      const now = clock.now();
      // The signing key may have been replaced while the call waited for a token.
      const { finish } = this.#routes[route.name] ?? route;
      request = finish(route.request(cards, now), proof, now);
      const exchange = await this.#exchange(route, request, startedAt, deadlineAt, pass);
      status = exchange.status;
      headers = exchange.headers;
      body = exchange.body;
      // A bad status is more informative than the end of the connection, and an error code more than the status.
      error = status < 300 ? exchange.error : withCode(statusError(exchange), route.answers.bodyError(body));
      error = this.#unanswered(error);
      error =
        this.#origin.refusalOf(status) ?? this.#signedOut(route, exchange, request.path, proof) ?? error;
      this.onCall?.({ request, status, body });
    } catch (cause) {
      error =
        cause instanceof GatewayError ? cause : new GatewayError('malformed', messageOf(cause), { cause });
    }
    pass?.giveBack();
    const durationMs = Math.round((clock.monotonic() - startedAt) * 10) / 10;
    return { proof, request, status, headers, body, error, durationMs };
  }

  /** Returns the better error for a call without a connection when the name server does not answer. */
  #unanswered(error: GatewayError | null): GatewayError | null {
    const host = error?.message === NO_CONNECTION ? this.#sight.unansweredName(UNANSWERED_MS) : null;
    if (host === null) return error;
    return new GatewayError('connect', `no name server answers for ${host}`, { kind: 'name' });
  }

  #signedOut({ answers: { isEffect } }: Route, answer: Exchange, path: string, proof: Proof | null) {
    const { url, module } = this.#profile;
    const isRead = module !== null && module.read !== null;
    const renew = () => this.#tokens?.doubted(proof as Proof) === true;
    return proof && signedOut(answer, { url, path, isEffect, isRead }, renew);
  }

  /** Reads the answer as a whole. @returns a function that reads one card's answer from it. */
  #reader(route: Route, cards: Cards, ended: Ended): (iccid: string) => Read {
    const readValue = this.#valueReader(route, cards, ended);
    const pendingOf = route.answers.pending(ended.body, ended.status);
    return (iccid) => {
      const value = readValue(iccid);
      return { value, pendingForMs: pendingOf(iccid, value) };
    };
  }

  #valueReader({ name, answers, isBatch }: Route, cards: Cards, { status, body }: Ended) {
    const byModule = readByModule(this.#profile, name, { status, body }, cards);
    if (byModule === null) return answers.read(body);
    if (isBatch) return byModule;
    return (iccid: string) => {
      const value = byModule(iccid);
      answers.requireCard(body, iccid);
      return value;
    };
  }

  /** @returns the exchange when it has ended, in any way. */
  #exchange(
    route: Route,
    request: GatewayRequest,
    startedAt: number,
    deadlineAt: number,
    pass?: Pass,
  ): Promise<Exchange> {
    const seat = pass instanceof Seat && pass.use() ? pass : null;
    const isTaken = seat !== null || this.#connections.take();
    const sendBy = seat?.sendBy ?? Number.POSITIVE_INFINITY;
    return new Promise((resolve) => {
      const settled = (ended: Exchange) => {
        this.#sweep.delete(ended);
        this.#connections.ended(ended);
        resolve(ended);
      };
      const exchange = new Exchange(route, startedAt, deadlineAt, sendBy, this.#monotonic, !isTaken, settled);
      this.#sweep.add(exchange);
      this.#connections.send(request, exchange, isTaken);
    });
  }

  #succeeded(
    route: Route,
    card: CalledCard,
    { proof, status, durationMs }: Ended,
    { value, pendingForMs }: Read,
  ): GatewayAnswer {
    if (proof !== null) this.#tokens?.accepted(proof);
    const fields: Record<string, unknown> = {
      iccid: card.iccid,
      card_id: card.cardId,
      duration_ms: durationMs,
      status,
    };
    const { answer } = INTERFACES[route.name];
    if (answer !== null) fields[answer.field] = value;
    if (pendingForMs === null) {
      route.logAnswered(fields);
      return { value, durationMs };
    }
    route.logAnswered({ ...fields, pending: true });
    return { value, durationMs, pendingForMs };
  }

  #failed(
    route: Route,
    card: CalledCard,
    ended: Ended,
    cause: unknown,
    reason = this.#reasonOf(ended, cause),
  ): GatewayError {
    const { proof, status, durationMs } = ended;
    const { failure, details } =
      cause instanceof GatewayError ? cause : new GatewayError('malformed', reason);
    if (failure === 'auth' && proof !== null) this.#tokens?.refused(proof);
    route.log.warn(
      {
        iccid: card.iccid,
        card_id: card.cardId,
        duration_ms: durationMs,
        status: status === 0 ? null : status,
        error: failure,
        reason,
      },
      GATEWAY_CALL,
    );
    const retryAfterMs = failure === 'backpressure' ? this.#pauseAsked(ended) : null;
    return new GatewayError(failure, reason, {
      ...details,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
      interfaceName: route.name,
      durationMs,
    });
  }

  #pauseAsked({ headers }: Ended): number | null {
    return parseRetryAfter(headers, this.deps.clock.now(), this.#profile.maxRetryAfterSeconds * 1_000);
  }

  /** Masks the whole text before it is cut, because the cut could leave half a secret. A gateway's text may be long. */
  #reasonOf({ request, status }: Ended, cause: unknown): string {
    const mask = maskFor(this.#profile, request, this.deps.proxies);
    return this.#origin.named(cleanText(mask(messageOf(cause))), cause, status !== 0);
  }
}

// The gateway client: one HTTP call for one card or for a batch of cards, bounded in time and size, and logged. Opened by
// wiring, used by the engine's tasks. It never retries (retries go through the queue) and never follows redirects.
import { isDeepStrictEqual } from 'node:util';
import { Pool } from 'undici';
import type { GatewayConfig, GatewayCredentials } from '../config/daemon-config.ts';
import {
  INTERFACES,
  type InterfaceName,
  notOfferedWords,
  perInterface,
} from '../domain/gateway-interface.ts';
import { callLimitsOf } from '../domain/limits/rate-limit.ts';
import { type Clock, withTimeout } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import {
  DeadlineSweep,
  Exchange,
  parseRetryAfter,
  type RetryAfter,
  statusError,
  withCode,
} from './exchange.ts';
import { type CalledCard, type GatewayAnswer, GatewayError, type UpstreamGateway } from './gateway.ts';
import { readByModule, watchedModule } from './module-calls.ts';
import { OAuthTokens } from './oauth-tokens.ts';
import { type GatewayRequest, maskFor, type Proof } from './request.ts';
import { type Route, type RouteDeps, routeOf } from './route.ts';

const GATEWAY_CALL = '网关调用';
const MAX_REASON_CHARS = 200;

export interface GatewayClientDeps extends RouteDeps {
  readonly clock: Clock;
}

/** A call as it was made, for `cardpoll gateway try`. */
export interface CallTrace {
  readonly request: GatewayRequest;
  /** 0: no answer. */
  readonly status: number;
  readonly body: string;
}

type LogFields = Record<string, unknown>;
type Cards = readonly [CalledCard, ...CalledCard[]];

/** A call that has ended. */
interface Ended {
  /** Of its token; null: there was none. */
  readonly proof: Proof | null;
  /** 0: no answer. */
  readonly status: number;
  /** null: no answer. */
  readonly retryAfter: RetryAfter | null;
  readonly body: string;
  /** Why there is no good answer; null: the status is 2xx, and the body is complete. */
  readonly error: GatewayError | null;
  readonly durationMs: number;
}

/** Connections are made when needed and kept alive. */
export class GatewayClient implements UpstreamGateway {
  readonly #pool: Pool;
  readonly #sweep: DeadlineSweep;
  #profile: GatewayConfig;
  /** null: the credentials are fixed, and part of the routes. */
  #tokens: OAuthTokens | null;
  #routes: Readonly<Record<InterfaceName, Route | null>>;
  readonly #stopped: ReadonlySet<string>;

  /** @param onCall gets every call when it has ended; absent: nobody looks. */
  constructor(
    profile: GatewayConfig,
    private readonly deps: GatewayClientDeps,
    private readonly onCall?: (trace: CallTrace) => void,
  ) {
    const { origin } = new URL(profile.url);
    // The sweep ends late calls; undici's own timeouts would only add a timer per connection.
    this.#pool = new Pool(origin, {
      connections: profile.maxConnections,
      pipelining: 1,
      connectTimeout: profile.timeoutMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#sweep = new DeadlineSweep(() => deps.clock.monotonic());
    this.#profile = { ...profile, module: watchedModule(profile.module, deps) };
    this.#tokens = tokensOf(profile, deps);
    this.#routes = perInterface((name) => routeOf(this.#profile, name, deps));
    this.#stopped = new Set(profile.stoppedStatuses.map((status) => status.trim().toLowerCase()));
  }

  async call(interfaceName: InterfaceName, card: CalledCard, timeoutMs: number): Promise<GatewayAnswer> {
    const route = this.#offered(interfaceName);
    const ended = await this.#perform(route, [card], timeoutMs);
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
  ): Promise<ReadonlyArray<GatewayAnswer | GatewayError>> {
    const route = this.#offered(interfaceName);
    // A card may be wanted twice at a time, by its schedule and by hand.
    const different = [...new Map(cards.map((card) => [card.iccid, card])).values()] as unknown as Cards;
    const ended = await this.#perform(route, different, timeoutMs);
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

  async ready(): Promise<void> {
    if (this.#tokens?.proof() === null) await this.#tokens.prove().catch(() => {});
  }

  endSlowCalls(interfaceName: InterfaceName, olderThanMs: number): void {
    this.#sweep.endSlow(interfaceName, olderThanMs);
  }

  isStoppedStatus(cardStatus: string): boolean {
    return this.#stopped.has(cardStatus.trim().toLowerCase());
  }

  /** Calls from now on, and those that wait for a token, are made with these credentials. */
  replaceCredentials(credentials: GatewayCredentials): void {
    const profile = { ...this.#profile, ...credentials };
    if (isDeepStrictEqual(profile, this.#profile)) return;
    const tokens = tokensOf(profile, this.deps);
    void this.#tokens?.close(tokens);
    this.#profile = profile;
    this.#tokens = tokens;
    this.#routes = perInterface((name) => routeOf(profile, name, this.deps));
  }

  /** Closes the connections; calls still in flight fail as `aborted`. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#tokens?.close()]);
    this.#sweep.stop();
  }

  #offered(name: InterfaceName): Route {
    const route = this.#routes[name];
    if (route !== null) return route;
    throw new GatewayError('not_offered', notOfferedWords(name), { interfaceName: name });
  }

  /** Makes the call. What goes wrong is in the result. */
  async #perform(route: Route, cards: Cards, timeoutMs: number): Promise<Ended> {
    const { clock } = this.deps;
    const startedAt = clock.monotonic();
    const deadlineAt = startedAt + Math.min(timeoutMs, route.timeoutMs);
    let proof: Proof | null = null;
    let status = 0;
    let retryAfter: RetryAfter | null = null;
    let body = '';
    let error: GatewayError | null = null;
    try {
      proof = this.#tokens && (this.#tokens.proof() ?? (await this.#prove(this.#tokens, deadlineAt)));
      const now = clock.now();
      // The signing key may have been replaced, together with the token that was waited for.
      const { finish } = this.#routes[route.name] ?? route;
      const request = finish(route.request(cards, now), proof, now);
      const exchange = await this.#exchange(route, request, startedAt, deadlineAt);
      status = exchange.status;
      retryAfter = exchange.retryAfter;
      body = exchange.body;
      // A bad status says more than how the connection ended, and an error code more than the status.
      error = status < 300 ? exchange.error : withCode(statusError(exchange), route.answers.errorSaid(body));
      this.onCall?.({ request, status, body });
    } catch (cause) {
      error =
        cause instanceof GatewayError ? cause : new GatewayError('malformed', messageOf(cause), { cause });
    }
    const durationMs = Math.round((clock.monotonic() - startedAt) * 10) / 10;
    return { proof, status, retryAfter, body, error, durationMs };
  }

  async #prove(tokens: OAuthTokens, deadlineAt: number): Promise<Proof> {
    const { clock } = this.deps;
    const proving = tokens.prove();
    if (!(await withTimeout(deadlineAt - clock.monotonic(), proving, clock)))
      throw new GatewayError('connect', 'no token within the deadline');
    // All calls that waited would be sent now, each long after the rate limits allowed it.
    if (callLimitsOf(this.#profile.rateLimits).length === 0) return proving;
    throw new GatewayError('held', 'the call waited for a token, and its turn is over');
  }

  /** Reads the answer as a whole. @returns what reads the value of a card from it. */
  #reader({ name, answers, isBatch }: Route, cards: Cards, { status, body }: Ended) {
    const byModule = readByModule(this.#profile, name, { status, body }, cards);
    if (byModule !== null) return byModule;
    return isBatch ? answers.readBatch(body) : () => answers.read(body);
  }

  /** @returns the exchange when it has ended, however it did. */
  #exchange(
    { name, maxBytes }: Route,
    request: GatewayRequest,
    startedAt: number,
    deadlineAt: number,
  ): Promise<Exchange> {
    const monotonic = () => this.deps.clock.monotonic();
    const mayQueue = this.#sweep.inFlight >= this.#profile.maxConnections;
    return new Promise((resolve) => {
      const settled = (ended: Exchange) => {
        this.#sweep.delete(ended);
        resolve(ended);
      };
      const exchange = new Exchange(name, startedAt, deadlineAt, monotonic, maxBytes, mayQueue, settled);
      this.#sweep.add(exchange);
      this.#pool.dispatch(request, exchange);
    });
  }

  #succeeded(
    route: Route,
    card: CalledCard,
    { proof, status, durationMs }: Ended,
    value: GatewayAnswer['value'],
  ): GatewayAnswer {
    if (proof !== null) this.#tokens?.accepted(proof);
    const fields: LogFields = { iccid: card.iccid, card_id: card.cardId, duration_ms: durationMs, status };
    const { answer } = INTERFACES[route.name];
    if (answer !== null) fields[answer.field] = value;
    route.log.info(fields, GATEWAY_CALL);
    return { value, durationMs };
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

  #pauseAsked({ retryAfter }: Ended): number | null {
    const maxMs = this.#profile.maxRetryAfterSeconds * 1_000;
    return retryAfter && parseRetryAfter(retryAfter, this.deps.clock.now(), maxMs);
  }

  /** The whole text is masked, since what is cut off may be the end of a secret: a text of the gateway may be long. */
  #reasonOf({ proof }: Ended, cause: unknown): string {
    return cleanText(maskFor(this.#profile, proof?.headers ?? [])(messageOf(cause)));
  }
}

function tokensOf(profile: GatewayConfig, deps: GatewayClientDeps): OAuthTokens | null {
  return profile.auth.kind === 'oauth2' ? new OAuthTokens(profile, deps) : null;
}

/** Makes text from outside safe for a log line and a terminal: no control characters, at most 200 characters. */
function cleanText(text: string): string {
  const cleaned = text
    .slice(0, 4 * MAX_REASON_CHARS)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim();
  return cleaned.length > MAX_REASON_CHARS ? `${cleaned.slice(0, MAX_REASON_CHARS - 1)}…` : cleaned;
}

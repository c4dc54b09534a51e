// The gateway client: one HTTP call for one card, bounded in time and size, and logged. Opened by
// wiring, used by the engine's tasks. It never retries (retries go through the queue) and never follows redirects.
import { createHmac } from 'node:crypto';
import { Pool } from 'undici';
import type { GatewayConfig, GatewayInterface } from '../config/daemon-config.ts';
import { INTERFACES, type InterfaceName, perInterface } from '../domain/gateway-interface.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { readAnswer, statusError } from './answer.ts';
import { DeadlineSweep, Exchange } from './exchange.ts';
import { type CalledCard, type GatewayAnswer, GatewayError, type UpstreamGateway } from './gateway.ts';

const GATEWAY_CALL = '网关调用';
const SIGNATURE_HEADER = 'x-cardpoll-signature';

interface GatewayClientDeps {
  /** Gets one line per call, with the fields of contract, "Logs". */
  readonly log: Logger;
  readonly clock: Clock;
}

type LogFields = Record<string, unknown>;

/** The parts of a call that are the same for every card. */
interface Route {
  readonly name: InterfaceName;
  readonly call: GatewayInterface;
  /** Path as sent: the path of the base URL, then the interface's. */
  readonly path: string;
  readonly headers: readonly string[];
  /** Carries `path` and `interface`, so that they are serialised once. `path` is the profile's, without the base. */
  readonly log: Logger;
}

/** Connections are made when needed and kept alive. */
export class GatewayClient implements UpstreamGateway {
  readonly #pool: Pool;
  readonly #sweep: DeadlineSweep;
  readonly #routes: Readonly<Record<InterfaceName, Route>>;
  readonly #stopped: ReadonlySet<string>;

  constructor(
    private readonly profile: GatewayConfig,
    private readonly deps: GatewayClientDeps,
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
    this.#routes = perInterface((name) => this.#route(name));
    this.#stopped = new Set(profile.stoppedStatuses.map((status) => status.trim().toLowerCase()));
  }

  call(interfaceName: InterfaceName, card: CalledCard, timeoutMs: number): Promise<GatewayAnswer> {
    const route = this.#routes[interfaceName];
    const startedAt = this.deps.clock.monotonic();
    const deadlineAt = startedAt + Math.min(timeoutMs, this.profile.timeoutMs);
    return new Promise((resolve, reject) => {
      const monotonic = () => this.deps.clock.monotonic();
      const { maxResponseBytes, maxConnections } = this.profile;
      const mayQueue = this.#sweep.inFlight >= maxConnections;
      const exchange = new Exchange(
        interfaceName,
        startedAt,
        deadlineAt,
        monotonic,
        maxResponseBytes,
        mayQueue,
        (ended) => {
          this.#sweep.delete(ended);
          const durationMs = Math.round((this.deps.clock.monotonic() - startedAt) * 10) / 10;
          const fields: LogFields = {
            iccid: card.iccid,
            card_id: card.cardId,
            duration_ms: durationMs,
            status: ended.status === 0 ? null : ended.status,
          };
          try {
            const value = this.#judge(route, ended);
            const { answer } = INTERFACES[route.name];
            if (answer !== null) fields[answer.field] = value;
            route.log.info(fields, GATEWAY_CALL);
            resolve({ value, durationMs });
          } catch (error) {
            reject(this.#logged(error, route, fields, durationMs));
          }
        },
      );
      this.#sweep.add(exchange);
      this.#send(route, card.iccid, exchange);
    });
  }

  endSlowCalls(interfaceName: InterfaceName, olderThanMs: number): void {
    this.#sweep.endSlow(interfaceName, olderThanMs);
  }

  isStoppedStatus(cardStatus: string): boolean {
    return this.#stopped.has(cardStatus.trim().toLowerCase());
  }

  /** Closes the connections; calls still in flight fail as `aborted`. */
  async close(): Promise<void> {
    await this.#pool.destroy();
    this.#sweep.stop();
  }

  #route(name: InterfaceName): Route {
    const call = this.profile.interfaces[name];
    const base = new URL(this.profile.url).pathname.replace(/\/+$/, '');
    const headers = fixedHeaders(this.profile);
    if (call.method !== 'GET') headers.push('content-type', 'application/json');
    return {
      name,
      call,
      path: base + call.path,
      headers,
      log: this.deps.log.child({ interface: name, path: call.path }),
    };
  }

  #send(route: Route, iccid: string, exchange: Exchange): void {
    const { method } = route.call;
    const inQuery = method === 'GET';
    const separator = route.path.includes('?') ? '&' : '?';
    const path = inQuery ? `${route.path}${separator}iccid=${encodeURIComponent(iccid)}` : route.path;
    const body = inQuery ? '' : JSON.stringify({ iccid });
    const { hmacKey } = this.profile;
    const headers =
      hmacKey === null
        ? (route.headers as string[])
        : [
            ...route.headers,
            SIGNATURE_HEADER,
            signatureOf(hmacKey, { method, path, body }, this.deps.clock.now()),
          ];
    this.#pool.dispatch({ method, path, headers, body: inQuery ? null : body }, exchange);
  }

  /** Judges the status first: a bad one says more than how the connection ended. */
  #judge(route: Route, ended: Exchange): GatewayAnswer['value'] {
    const { status, error } = ended;
    if (status >= 300) {
      const maxRetryAfterMs = this.profile.maxRetryAfterSeconds * 1_000;
      throw statusError(status, ended.retryAfter, this.deps.clock.now(), maxRetryAfterMs);
    }
    if (error !== null) throw error;
    return readAnswer(route.name, route.call.field, ended.body);
  }

  #logged(error: unknown, route: Route, fields: LogFields, durationMs: number): GatewayError {
    const { failure, details } =
      error instanceof GatewayError ? error : new GatewayError('malformed', messageOf(error));
    const reason = messageOf(error);
    route.log.warn({ ...fields, error: failure, reason }, GATEWAY_CALL);
    return new GatewayError(failure, reason, { ...details, interfaceName: route.name, durationMs });
  }
}

interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/**
 * The value of the signature header: `t=<unix seconds>,v1=<hex>`, where <hex> is HMAC-SHA256 under the shared key of
 * "<t>.<METHOD>.<path as sent, with query>.<body>". The gateway should refuse a `t` more than five minutes away from its
 * own clock, so that a recorded call cannot be replayed.
 */
function signatureOf(key: string, request: SignedRequest, atMs: number): string {
  const t = Math.floor(atMs / 1000);
  const text = `${t}.${request.method}.${request.path}.${request.body}`;
  return `t=${t},v1=${createHmac('sha256', key).update(text).digest('hex')}`;
}

/** Headers that are the same for every call, as name, value, name, value. A bearer token and a signature may both be configured. */
function fixedHeaders({ token }: Pick<GatewayConfig, 'token'>): string[] {
  const headers = ['accept', 'application/json', 'user-agent', 'cardpoll'];
  if (token !== null) headers.push('authorization', `Bearer ${token}`);
  return headers;
}

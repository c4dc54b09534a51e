// The gateway client: one HTTP call for one card, bounded in time and size, logged, with an honest error. Opened by
// wiring, used by the engine's tasks. It never retries (retries go through the queue) and never follows redirects.
import { Pool } from 'undici';
import type { GatewayConfig, GatewayInterface } from '../config/daemon-config.ts';
import { INTERFACES, type InterfaceName, perInterface } from '../domain/gateway-interface.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { readAnswer, statusError } from './answer.ts';
import { fixedHeaders, SIGNATURE_HEADER, signatureOf } from './credentials.ts';
import { DeadlineSweep, Exchange } from './exchange.ts';
import { type CalledCard, type GatewayAnswer, GatewayError, type UpstreamGateway } from './gateway.ts';

const GATEWAY_CALL = '网关调用';

interface GatewayClientDeps {
  /** Gets one line a call, with the fields of contract, "Logs". */
  readonly log: Logger;
  readonly clock: Clock;
}

type LogFields = Record<string, unknown>;

/** Opens a client; connections are made when needed and kept alive. */
export function openGatewayClient(profile: GatewayConfig, deps: GatewayClientDeps): GatewayClient {
  return new GatewayClient(profile, deps);
}

/** What is known of an interface before any call. */
interface Route {
  readonly name: InterfaceName;
  readonly call: GatewayInterface;
  /** Path as sent: the base URL's path and the interface's. */
  readonly path: string;
  readonly headers: readonly string[];
  /** Carries `path` and `interface`, so that they are serialised once. `path` is the profile's, without the base. */
  readonly log: Logger;
}

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

  /** A bad status says more than the way its connection ended, so it is judged first. */
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

// The connections of the gateway client. The pool never gets more requests than it has connections: the others wait here. A call
// with an effect gets its connection before its card is claimed, and before all other waiting calls, because it is sent within a
// second or not at all. Used by client.ts.

import { rootCertificates } from 'node:tls';
import type { Dispatcher } from 'undici';
import type { GatewayConfig, GatewayTls } from '../../domain/gateway/gateway-config.ts';
import type { Clock } from '../../platform/clock.ts';
import { GatewayError, PASS_GOOD_FOR_MS, type Pass } from '../gateway.ts';
import type { ConnectionSight } from './connection-fault.ts';
import type { Origin, OriginPool } from './origin-pool.ts';

/** Interval at which a waiting call checks whether it is still needed. */
const LOOK_AGAIN_MS = 1_000;

/** @param isGateway false: a token server elsewhere, which may have a certificate of a public authority. */
export function tlsOptions({ ca, pair }: GatewayTls, isGateway = true) {
  return { ...pair, ...(ca === null ? {} : { ca: isGateway ? [ca] : [...rootCertificates, ca] }) };
}

export function poolOf(
  origin: Origin,
  { maxConnections, timeoutMs, tls }: GatewayConfig,
  sight: ConnectionSight,
): OriginPool {
  // The sweep ends late calls; undici's own timeouts would only add a timer per connection.
  return origin.openPool({
    connections: maxConnections,
    pipelining: 1,
    connect: { timeout: timeoutMs, ...tlsOptions(tls) },
    headersTimeout: 0,
    bodyTimeout: 0,
    sight,
  });
}

export class PoolConnections<Handler extends Dispatcher.DispatchHandler> {
  #free: number;
  readonly #waiting = new Map<Handler, Dispatcher.DispatchOptions>();
  /** Calls with an effect that are not made yet and wait for a connection. */
  readonly #first = new Set<AbortController>();

  constructor(
    connections: number,
    private readonly clock: Clock,
    private pool: Pick<Dispatcher, 'dispatch'>,
  ) {
    this.#free = connections;
  }

  /** New and waiting requests use this pool: the old one has connections with the old certificate. */
  replacePool<P extends Pick<Dispatcher, 'dispatch'>>(pool: P): P {
    this.pool = pool;
    return pool;
  }

  /** Waiting requests. */
  get waiting(): Handler[] {
    return [...this.#waiting.keys()];
  }

  /** @returns false when all connections are in use. */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** @param isTaken a connection was taken for it; otherwise it waits for one. */
  send(request: Dispatcher.DispatchOptions, handler: Handler, isTaken: boolean): void {
    if (isTaken) this.pool.dispatch(request, handler);
    else this.#waiting.set(handler, request);
  }

  /** Call this when the exchange is over, sent or not. */
  ended(handler: Handler): void {
    if (!this.#waiting.delete(handler)) this.#giveBack();
  }

  /** Takes a connection for a call that is made later. @throws GatewayError `held`: none was free in time. */
  async seat(withinMs: number, signal?: AbortSignal): Promise<Seat> {
    const { clock } = this;
    const until = clock.monotonic() + withinMs;
    while (!this.take()) {
      const leftMs = until - clock.monotonic();
      if (leftMs <= 0 || signal?.aborted === true)
        throw new GatewayError('held', 'no connection was free in time');
      const mine = new AbortController();
      this.#first.add(mine);
      await clock.sleep(Math.min(leftMs, LOOK_AGAIN_MS), mine.signal);
      if (!this.#first.delete(mine)) break;
    }
    return new Seat(clock.monotonic() + PASS_GOOD_FOR_MS, () => this.#giveBack());
  }

  #giveBack(): void {
    const [first] = this.#first;
    const [waiting] = this.#waiting;
    if (first !== undefined) {
      this.#first.delete(first);
      first.abort('free');
    } else if (waiting !== undefined) {
      const [handler, request] = waiting;
      this.#waiting.delete(handler);
      this.pool.dispatch(request, handler);
    } else {
      this.#free += 1;
    }
  }
}

/** A connection reserved for one call. */
export class Seat implements Pass {
  #isUsed = false;

  constructor(
    readonly sendBy: number,
    private readonly free: () => void,
  ) {}

  /** @returns false when it was used or returned before. */
  use(): boolean {
    const isFirst = !this.#isUsed;
    this.#isUsed = true;
    return isFirst;
  }

  giveBack(): void {
    if (this.use()) this.free();
  }
}

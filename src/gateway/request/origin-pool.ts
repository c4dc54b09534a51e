// Connects to a server, the gateway or a token server: directly, or through a proxy. Used by connections.ts, the client and
// auth/tokens.ts. Requests to https:// servers go through tunnels, one for each connection of the pool, with TLS from end to end.
// Requests to http:// servers are sent to the proxy with their whole URL, since proxies usually open tunnels to port 443 only.
// undici's EnvHttpProxyAgent (7.30) is not used: its CONNECTs have no limit of connections and no separate deadline, its errors
// name no proxy, it opens tunnels for http:// servers too, and the doctor and the webhooks could not query its rule for NO_PROXY.
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { serverIn } from '../../platform/addresses.ts';
import { type HttpProxy, namesProxy, type Proxies, proxyText } from '../../platform/proxy/http-proxy.ts';
import { proxyFor } from '../../platform/proxy/proxy-for.ts';
import {
  authorizationFor,
  openTunnel,
  PROXY_AUTHENTICATION_REQUIRED,
  type ProxyError,
  refusalText,
} from '../../platform/proxy/proxy-tunnel.ts';
import { GatewayError, type GatewayFailure } from '../gateway.ts';
import type { ConnectionSight } from './connection-fault.ts';
import { pairs } from './request.ts';

interface PoolOptions extends Omit<Pool.Options, 'connect'> {
  readonly connect: buildConnector.BuildOptions & { readonly timeout: number };
  /** Absent: no observer. */
  readonly sight?: ConnectionSight;
}

export type OriginPool = Pick<Dispatcher, 'dispatch' | 'request' | 'close' | 'destroy'>;

/** Failures without an answer, which the proxy may have caused. */
const UNANSWERED: readonly GatewayFailure[] = ['connect', 'network', 'timeout'];
/** Failures that the proxy cannot have caused: the server answered with its own envelope, or was not called. */
const ITS_OWN: readonly GatewayFailure[] = ['business', 'aborted', 'held'];

export class Origin {
  readonly #origin: string;
  /** null: no proxy. */
  readonly #proxy: HttpProxy | null;
  /** The proxy reads requests and answers, and may answer itself. */
  readonly #isForwarded: boolean;

  /** @param url any URL of the server. */
  constructor(url: string, proxies: Proxies) {
    this.#origin = new URL(url).origin;
    this.#proxy = proxyFor(url, proxies);
    this.#isForwarded = this.#proxy !== null && url.startsWith('http:');
  }

  openPool({ sight, ...options }: PoolOptions): OriginPool {
    if (this.#isForwarded && this.#proxy !== null) return forwardingPool(this.#origin, options, this.#proxy);
    const connect =
      this.#proxy === null
        ? buildConnector({ ...options.connect, ...(sight === undefined ? {} : { lookup: sight.lookup }) })
        : tunnelConnector(this.#origin, options.connect, this.#proxy);
    return new Pool(this.#origin, { ...options, connect: sight?.watching(connect) ?? connect });
  }

  /** @param status of an answer. @returns null: the proxy did not refuse. */
  refusalOf(status: number): GatewayError | null {
    if (this.#proxy === null || !this.#isForwarded || status !== PROXY_AUTHENTICATION_REQUIRED) return null;
    return new GatewayError('connect', refusalText(this.#proxy, status), { kind: 'proxy' });
  }

  /**
   * @param isAnswered whether there is an answer, which may be the proxy's.
   * @returns the reason of a failure, with the proxy's name where the proxy may have failed.
   */
  named(reason: string, cause: unknown, isAnswered: boolean): string {
    if (this.#proxy === null || namesProxy(reason)) return reason;
    const failure = cause instanceof GatewayError ? cause.failure : 'malformed';
    const isProxys = isAnswered && this.#isForwarded && !ITS_OWN.includes(failure);
    return UNANSWERED.includes(failure) || isProxys ? `${reason}, through ${proxyText(this.#proxy)}` : reason;
  }
}

function tunnelConnector(
  origin: string,
  connect: PoolOptions['connect'],
  proxy: HttpProxy,
): buildConnector.connector {
  const secure = buildConnector(connect);
  const to = serverIn(new URL(origin));
  return (server, callback) => {
    openTunnel(proxy, to, AbortSignal.timeout(connect.timeout)).then(
      (httpSocket) => secure({ ...server, httpSocket }, callback),
      (error: ProxyError) => callback(error, null),
    );
  };
}

/** Every connection goes to the proxy, and serves as many requests as the proxy allows. */
function forwardingPool(origin: string, options: PoolOptions, proxy: HttpProxy): OriginPool {
  const connectProxy = buildConnector({ timeout: options.connect.timeout });
  const { host } = new URL(origin);
  // A proxy may cache answers, and a cached reading would be an old one.
  const added = Object.entries({ host, 'cache-control': 'no-cache', ...authorizationFor(proxy) });
  const pool = new Pool(proxy.url, {
    ...options,
    // undici passes the name in the header Host, but the certificate of an https:// proxy has the proxy's name.
    connect: ({ servername: _, ...server }, callback) => connectProxy(server, callback),
  });
  return pool.compose((dispatch) => (request, handler) => {
    const own = request.headers as readonly string[];
    const names = pairs(own).map(([name]) => name);
    const headers = [...own, ...added.filter(([name]) => !names.includes(name)).flat()];
    return dispatch({ ...request, path: `${origin}${request.path}`, headers }, handler);
  });
}

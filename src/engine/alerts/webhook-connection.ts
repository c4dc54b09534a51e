// How the request of a webhook reaches its receiver: directly, or by a tunnel through the proxy of the environment. Either way the
// guard has permitted the address, and TLS is between this process and the receiver. Used by webhook-attempt.ts.
import type { RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { serverIn } from '../../platform/addresses.ts';
import { proxyFor } from '../../platform/proxy/proxy-for.ts';
import { openTunnel } from '../../platform/proxy/proxy-tunnel.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';

type Connection = Pick<RequestOptions, 'agent' | 'lookup' | 'createConnection'>;

/**
 * @param target a URL that `guard.refusalOf` lets through.
 * @returns options of a request of Node's own client. A tunnel is open by then, and good for one request.
 * @throws ProxyError; what `guard.addressBehind` throws; the reason of the signal.
 */
export async function connectionTo(target: URL, guard: SsrfGuard, signal: AbortSignal): Promise<Connection> {
  const proxy = proxyFor(target.href, guard.proxies);
  if (proxy === null) return { agent: false, lookup: guard.lookup };
  const isHttps = target.protocol === 'https:';
  const { host, port } = serverIn(target);
  const address = await guard.addressBehind(proxy, host, signal);
  const tunnel = await openTunnel(proxy, { host: address, port }, signal);
  // The certificate is checked against the host, whatever the tunnel leads to.
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = isHttps ? connect({ socket: tunnel, host, ...servername }) : tunnel;
  return { createConnection: () => socket };
}

// Connects a webhook's request to its receiver: directly, or by a tunnel through the proxy of the environment. In both cases the
// guard has permitted the address, and TLS is between this process and the receiver. Used by webhook-attempt.ts.
import type { RequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { serverIn } from '../../platform/addresses.ts';
import type { HttpProxy } from '../../platform/proxy/http-proxy.ts';
import { proxyFor } from '../../platform/proxy/proxy-for.ts';
import { openTunnel, ProxyError } from '../../platform/proxy/proxy-tunnel.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';

/** The proxy cannot connect to this address, but another address may work. */
const UNREACHABLE: readonly unknown[] = [502, 503, 504];

type Connection = Pick<RequestOptions, 'agent' | 'lookup' | 'createConnection'>;

/**
 * @param target a URL that `guard.refusalOf` lets through.
 * @returns options for a request of Node's own client. A tunnel is already open, and usable for one request.
 * @throws ProxyError; the errors of `guard.addressesBehind`; the reason of the signal.
 */
export async function connectionTo(target: URL, guard: SsrfGuard, signal: AbortSignal): Promise<Connection> {
  const proxy = proxyFor(target.href, guard.proxies);
  if (proxy === null) return { agent: false, lookup: guard.lookup };
  const isHttps = target.protocol === 'https:';
  const { host, port } = serverIn(target);
  const addresses = await guard.addressesBehind(proxy, host, signal);
  const tunnel = await firstTunnel(proxy, addresses, port, signal);
  // The certificate is checked against the host, wherever the tunnel ends.
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = isHttps ? connect({ socket: tunnel, host, ...servername }) : tunnel;
  return { createConnection: () => socket };
}

/** Tries one address after the other, as Node does without a proxy. A refused tunnel has sent nothing. */
async function firstTunnel(
  proxy: HttpProxy,
  [address = '', ...others]: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  try {
    return await openTunnel(proxy, { host: address, port }, signal);
  } catch (error) {
    const isUnreachable = error instanceof ProxyError && UNREACHABLE.includes(error.status);
    if (!isUnreachable || others.length === 0) throw error;
    return firstTunnel(proxy, others, port, signal);
  }
}

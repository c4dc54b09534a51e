// Opens a tunnel through an HTTP proxy (CONNECT, RFC 9110, 9.3.6), or explains why it cannot. Used for calls of an https://
// gateway and for webhooks. Sends one request and never a second, follows no redirect, and shows no credentials.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { hostAndPort, serverIn } from '../addresses.ts';
import { messageOf } from '../errors.ts';
import { type HttpProxy, proxyText } from './http-proxy.ts';

export const PROXY_AUTHENTICATION_REQUIRED = 407;
/** tinyproxy's answer to wrong credentials. */
const UNAUTHORIZED = 401;

/** A failure of the proxy: nothing was sent to the server behind it. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';

  /** @param status of the proxy's answer; null: no answer. */
  constructor(
    message: string,
    readonly status: number | null = null,
  ) {
    super(message);
  }
}

/**
 * @param signal ends the attempt, but not an open tunnel.
 * @returns a connection to the server behind the proxy, without TLS.
 * @throws ProxyError that names the proxy.
 */
export function openTunnel(
  proxy: HttpProxy,
  server: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const to = hostAndPort(server.host, server.port);
  const request = proxy.url.startsWith('https:') ? httpsRequest : httpRequest;
  const { host } = serverIn(new URL(proxy.url));
  return new Promise((resolve, reject) => {
    const asked = request(proxy.url, {
      method: 'CONNECT',
      path: to,
      headers: { host: to, connection: 'keep-alive', ...authorizationFor(proxy) },
      // For an https:// proxy: otherwise Node would check its certificate against the header Host. In TLS an address has no
      // server name.
      servername: isIP(host) === 0 ? host : '',
      // Node's own agent would use a proxy to reach the proxy where NODE_USE_ENV_PROXY is set.
      agent: false,
      signal,
    });
    asked.on('error', (error) => {
      const why = signal.aborted
        ? `${proxyText(proxy)} opened no tunnel to ${to} in time`
        : `no tunnel by ${proxyText(proxy)}: ${messageOf(error)}`;
      reject(new ProxyError(why));
    });
    asked.on('connect', ({ statusCode: status = 0 }, socket, head) => {
      // The user of the tunnel notices that it broke.
      socket.on('error', () => {});
      if (status >= 200 && status < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket as Socket);
        return;
      }
      socket.destroy();
      reject(new ProxyError(refusalText(proxy, status, `to CONNECT ${to}`), status));
    });
    asked.end();
  });
}

/** The header with the credentials for the proxy, as an object; empty without credentials. */
export function authorizationFor({ authorization }: HttpProxy): Readonly<Record<string, string>> {
  return authorization === null ? {} : { 'proxy-authorization': authorization };
}

/** @param status of the proxy's answer, outside 2xx. @param what the request to the proxy. */
export function refusalText(proxy: HttpProxy, status: number, what = ''): string {
  const answered = `${proxyText(proxy)} answered HTTP ${status} ${what}`.trimEnd();
  if (status !== PROXY_AUTHENTICATION_REQUIRED && status !== UNAUTHORIZED) return answered;
  return proxy.authorization === null
    ? `${answered}: it asks for credentials, http://user:password@... in ${proxy.variable}`
    : `${answered}: it does not accept the credentials in ${proxy.variable}`;
}

// Tells whether tokens would come over a network in clear text. Used by serve.ts, which warns of it at the start. The
// command line has a warning of its own, cli/output/plain-http.ts.
import { isLoopback } from '../../platform/loopback.ts';

/** Behind a proxy that is trusted, HTTPS is the proxy's. */
export function tokensInClearText({
  host,
  tls,
  trustedProxies,
}: {
  readonly host: string;
  readonly tls: object | null;
  readonly trustedProxies: readonly unknown[];
}): boolean {
  return tls === null && trustedProxies.length === 0 && !isLoopback(host);
}

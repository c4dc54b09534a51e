// Reports the proxy of each kind of call, for the log at the start of a daemon and for the doctor. Empty if the environment names
// no proxy. Uses platform/proxy/proxy-for.ts, like the connections.
import type { DaemonConfig } from './config/daemon-config.ts';
import { MonthCalendar } from './domain/cards/month-calendar.ts';
import { type Finding, ok } from './domain/finding.ts';
import { tokenSourceOf } from './gateway/auth/token-sources.ts';
import { type HttpProxy, proxyText } from './platform/proxy/http-proxy.ts';
import { proxyFor } from './platform/proxy/proxy-for.ts';

type Calling = Pick<DaemonConfig, 'gateway' | 'alerts' | 'proxies' | 'timeZone'>;

/** The receivers of calls, and the way: `direct`, or `through proxy http://proxy.example:3128 (HTTPS_PROXY)`. */
export function proxyRoutes({ gateway, alerts, proxies, timeZone }: Calling): Record<string, string> {
  const { http, https, exempt } = proxies;
  if (http === null && https === null) return {};
  const tokens = tokenSourceOf(gateway, new MonthCalendar(timeZone), proxies);
  const urls = { gateway: gateway.url, token_server: tokens?.url, heartbeat: alerts.heartbeatUrl };
  const routes = Object.entries(urls).flatMap(([name, url]) =>
    url === null || url === undefined ? [] : [[name, routeText(proxyFor(url, proxies))]],
  );
  const exception = exempt.length === 0 ? '' : `; direct: ${exempt.join(', ')} (NO_PROXY)`;
  const webhooks = `https:// ${routeText(https)}; http:// ${routeText(http)}${exception}`;
  return { ...Object.fromEntries(routes), webhooks };
}

export function proxyFindings(config: Calling): Finding[] {
  return Object.entries(proxyRoutes(config)).map(([name, route]) =>
    ok(`proxy ${name.replace('_', ' ')}`, route),
  );
}

function routeText(proxy: HttpProxy | null): string {
  return proxy === null ? 'direct' : `through ${proxyText(proxy)}`;
}

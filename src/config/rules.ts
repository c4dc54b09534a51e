// Rules between settings of the daemon. Each reports its problem to the reader; none throws.
import { callLimitsOf } from '../domain/limits/rate-limit.ts';
import { isLoopback } from '../platform/addresses.ts';
import type { DaemonConfig } from './daemon-config.ts';
import type { HostPort } from './kinds.ts';
import type { SettingReader } from './reader.ts';
import { nameOf, type Setting, waysToSet } from './settings/setting.ts';
import { SETTINGS } from './settings/settings.ts';

/** Time that a lease must leave for the store and the clock, in addition to two gateway deadlines. */
const LEASE_MARGIN_MS = 1_000;
const { adminTokens } = SETTINGS.access;

export function checkDaemonRules(reader: SettingReader, config: DaemonConfig): void {
  checkStoreRules(reader);
  checkGatewayUrl(reader);
  checkAccess(reader, config);
  checkProxies(reader);
  checkLease(reader, config);
  checkRateLimits(reader, config);
}

export function checkStoreRules(reader: SettingReader): void {
  checkStores(reader);
  checkRedisUrl(reader);
}

function checkStores(reader: SettingReader): void {
  const pair = [SETTINGS.stores.redisUrl, SETTINGS.stores.databaseUrl] as const;
  const [set, missing] = reader.isSet(pair[0]) ? pair : [pair[1], pair[0]];
  if (!reader.isSet(set) || !reader.isMissing(missing)) return;
  const ways = `give ${waysToSet(missing)}, or neither store for the embedded ones`;
  reader.report(missing, `${nameOf(set)} is set but ${nameOf(missing)} is not: ${ways}`);
}

/** A TLS file or a sentinel password without a URL that uses it would be ignored silently. */
function checkRedisUrl(reader: SettingReader): void {
  const { redisUrl, redisTlsCa, redisTlsCert, redisTlsKey, redisSentinelPassword } = SETTINGS.stores;
  needScheme(reader, redisUrl, [
    [redisTlsCa, /^rediss/, 'rediss://, rediss-sentinel:// or rediss-cluster://'],
    [redisTlsCert, /^rediss/, 'rediss://, rediss-sentinel:// or rediss-cluster://'],
    [redisTlsKey, /^rediss/, 'rediss://, rediss-sentinel:// or rediss-cluster://'],
    [redisSentinelPassword, /^rediss?-sentinel:/, 'redis-sentinel:// or rediss-sentinel://'],
  ]);
}

type SchemeRule = readonly [setting: Setting<unknown>, scheme: RegExp, schemes: string];

function needScheme(
  reader: SettingReader,
  urlSetting: Setting<string | null>,
  rules: readonly SchemeRule[],
): void {
  const url = reader.read(urlSetting);
  if (url === null) return;
  for (const [setting, scheme, schemes] of rules) {
    if (!reader.isSet(setting) || scheme.test(url)) continue;
    reader.report(
      setting,
      `${nameOf(setting)} is set, but ${nameOf(urlSetting)} does not begin with ${schemes}`,
    );
  }
}

export function checkGatewayUrl(reader: SettingReader): void {
  const { url } = SETTINGS.gateway;
  const ofTls = Object.values(SETTINGS.gatewayTls);
  needScheme(
    reader,
    url,
    ofTls.map((setting) => [setting, /^https:/, 'https://']),
  );
  if (!reader.isMissing(url)) return;
  const ways = `give ${waysToSet(url)} (to try cardpoll without a gateway, run cardpoll demo)`;
  reader.report(url, `the gateway URL is missing: ${ways}`);
}

function checkAccess(reader: SettingReader, config: DaemonConfig): void {
  refuseOpen(reader, config.listen, 'the admin API');
  if (config.probeListen !== null && !config.roles.includes('api')) {
    refuseOpen(reader, config.probeListen, '/metrics');
  }
}

/** Behind a proxy every client has the proxy's address, and without tokens a loopback address is admitted. */
function checkProxies(reader: SettingReader): void {
  const { trustedProxies } = SETTINGS.api;
  if (!reader.isSet(trustedProxies) || reader.isSet(adminTokens)) return;
  const danger = `${nameOf(trustedProxies)} would open the admin API to every client of the proxy`;
  reader.report(adminTokens, `${danger}: give ${waysToSet(adminTokens)}`);
}

function refuseOpen(reader: SettingReader, { host }: HostPort, what: string): void {
  if (isLoopback(host) || reader.isSet(adminTokens)) return;
  const danger = `listening on ${host} would open ${what} to the network without tokens`;
  reader.report(adminTokens, `${danger}: give ${waysToSet(adminTokens)}, or listen on 127.0.0.1`);
}

function checkLease(reader: SettingReader, config: DaemonConfig): void {
  const involved: Setting<unknown>[] = [SETTINGS.polling.leaseMs, SETTINGS.gateway.timeoutMs];
  if (involved.some((setting) => reader.isUnusable(setting))) return;
  const { timeoutMs, interfaces } = config.gateway;
  const own = Object.values(interfaces).map((one) => one?.timeoutMs ?? timeoutMs);
  const longest = Math.max(timeoutMs, ...own);
  const least = 2 * longest + LEASE_MARGIN_MS;
  if (config.polling.leaseMs >= least) return;
  const what = longest === timeoutMs ? 'gateway.timeout_ms' : 'the longest timeout_ms of an interface';
  const why = `twice ${what} (${longest}) and ${LEASE_MARGIN_MS}`;
  const { leaseMs } = config.polling;
  reader.report(SETTINGS.polling.leaseMs, `polling.lease_ms (${leaseMs}) must be at least ${least}: ${why}`);
}

/** Limits of calls are counted in Redis. The per-card limit does not need it. */
function checkRateLimits(reader: SettingReader, { stores, gateway }: DaemonConfig): void {
  if (stores.kind === 'external' || callLimitsOf(gateway.rateLimits).length === 0) return;
  const { rateLimitPerSecond, rateLimits } = SETTINGS.pace;
  const setting = reader.isSet(rateLimitPerSecond) ? rateLimitPerSecond : rateLimits;
  const ways = `give ${waysToSet(SETTINGS.stores.redisUrl)}, and the database URL`;
  reader.report(
    setting,
    `rate limits need Redis: ${ways}, or set no limit of calls; the embedded stores are for trials`,
  );
}

// Opens the connection to Redis (standalone, Sentinel or Cluster) and checks the configuration of the server. Called by
// live-store.ts. The connection reconnects indefinitely, and no command waits longer than COMMAND_DEADLINE_MS.
import { isIP } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { CardpollError, messageOf, tlsFaultOf } from '../../../platform/errors.ts';
import { RedisClient } from './client.ts';
import { parseRedisUrl, type RedisTarget } from './redis-url.ts';

/** The log for lost and restored connections, such as a pino logger. */
export interface ConnectionLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** How to reach the servers. */
export interface RedisAccess {
  readonly url: string;
  /**
   * PEM texts for a URL with TLS: the authorities to trust instead of Node's, and the client certificate with its key.
   */
  readonly tls?: {
    readonly ca: string | null;
    readonly pair: { readonly cert: string; readonly key: string } | null;
  };
  readonly sentinelPassword?: string | null;
}

const COMMAND_DEADLINE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** A sentinel that takes longer is skipped, so that the next one can answer within a command's deadline. */
const SENTINEL_TIMEOUT_MS = 1_000;
/** A connection without answers for this long is dead (a vanished host sends no reset) and is replaced. */
const SOCKET_TIMEOUT_MS = 4_000;
const MAX_RECONNECT_DELAY_MS = 1_000;
const TLS_PROBE_TIMEOUT_MS = 2_000;

const reconnectDelayMs = (attempt: number): number =>
  Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** Math.min(attempt - 1, 5));

/** @throws CardpollError `config` for an unusable URL or server, `unavailable` when nothing answers. */
export async function connectRedis(access: RedisAccess, log?: ConnectionLog): Promise<RedisClient> {
  const target = parseRedisUrl(access.url);
  const tls = target.tls ? { ...access.tls?.pair, ...(access.tls?.ca ? { ca: access.tls.ca } : {}) } : null;
  const connection = open(target, tls, access.sentinelPassword ?? null);
  const client = new RedisClient(connection, target.shown, COMMAND_DEADLINE_MS);
  if (connection instanceof Redis) {
    // For each refused command that it sends again, ioredis adds a listener to the socket; Node would warn of a leak.
    connection.on('connect', () => connection.stream.setMaxListeners(0));
  }
  if (log !== undefined) logConnection(client, log);
  try {
    await client.command('PING');
    await requireNoEviction(client);
  } catch (error) {
    client.close();
    throw (tls === null ? null : await tlsErrorAt(target, tls)) ?? error;
  }
  return client;
}

function open(
  target: RedisTarget,
  tls: ConnectionOptions | null,
  sentinelPassword: string | null,
): Redis | Cluster {
  const options = {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(tls === null ? {} : { tls }),
    connectionName: 'cardpoll',
    disableClientInfo: true,
    protocol: 2,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    maxRetriesPerRequest: 2,
    // After a failover the old master is read-only, and a restarted server loads its data: reconnect and send again.
    reconnectOnError: (error: Error) => (/^(READONLY|LOADING)/.test(error.message) ? 2 : false),
    // The ready check needs INFO, which the user may not have. Behind Sentinel it shows a former master (below).
    enableReadyCheck: false,
  } satisfies RedisOptions;
  if (target.mode === 'cluster') {
    return new Cluster([...target.nodes], {
      redisOptions: options,
      clusterRetryStrategy: reconnectDelayMs,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      slotsRefreshInterval: 2_000,
      // Otherwise the driver looks up names itself, and certificates would have to contain addresses.
      ...(tls === null ? {} : { dnsLookup: (address, found) => found(null, address) }),
    });
  }
  const single = { ...options, db: target.db, retryStrategy: reconnectDelayMs };
  if (target.mode === 'sentinel') {
    return new Redis({
      ...single,
      enableReadyCheck: true,
      sentinels: [...target.nodes],
      name: target.masterName,
      sentinelRetryStrategy: reconnectDelayMs,
      sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
      failoverDetector: true,
      ...(tls === null ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
      ...(sentinelPassword === null ? {} : { sentinelPassword }),
    });
  }
  return new Redis({ ...single, ...target.nodes[0] });
}

function logConnection(client: RedisClient, log: ConnectionLog): void {
  let up = false;
  let lost = false;
  client.connection.on('close', () => {
    if (up) log.warn({ redis: client.shownUrl }, 'Redis connection lost, reconnecting');
    lost ||= up;
    up = false;
  });
  client.connection.on('ready', () => {
    if (lost) {
      log.info({ redis: client.shownUrl }, 'Redis connection restored');
      void warnOfEviction(client, log);
    }
    up = true;
    lost = false;
  });
}

/** After a failover or a restart another policy may be in force. Polling continues: stopping would save no key. */
async function warnOfEviction(client: RedisClient, log: ConnectionLog): Promise<void> {
  try {
    await requireNoEviction(client);
  } catch (error) {
    // The connection may be lost again by now; the next connection checks.
    if (!(error instanceof CardpollError) || error.code !== 'redis_evicts') return;
    log.warn({ redis: client.shownUrl, hint: error.hint }, error.message);
  }
}

/** A server that evicts keys would silently lose scheduled cards. A server that hides its policy is trusted. */
async function requireNoEviction(client: RedisClient): Promise<void> {
  for (const { info } of await client.infos('memory')) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (policy !== undefined && policy !== 'noeviction') {
      throw new CardpollError(
        'config',
        'redis_evicts',
        `Redis at ${client.shownUrl} runs with maxmemory-policy ${policy} and could drop scheduled cards`,
        {
          hint: 'set maxmemory-policy noeviction (redis-cli CONFIG SET maxmemory-policy noeviction, and redis.conf)',
        },
      );
    }
  }
}

/**
 * Finds out why a TLS connection fails: for sentinels and for the nodes of a cluster, the driver reports only that the
 * connections were closed. @returns null when TLS works with every server of the URL.
 */
async function tlsErrorAt(
  { nodes, shown }: RedisTarget,
  options: ConnectionOptions,
): Promise<CardpollError | null> {
  const errors = await Promise.all(nodes.map((node) => probeTls(node, options)));
  for (const error of errors) {
    const fault = tlsFaultOf(error);
    if (fault === null) continue;
    return new CardpollError(
      'config',
      'redis_tls',
      `Redis at ${shown} cannot be reached over TLS: ${fault} (${messageOf(error)})`,
      {
        cause: error,
        hint: 'check redis_tls_ca, redis_tls_cert and redis_tls_key, and the host names in the Redis URL',
      },
    );
  }
  return null;
}

/** Sends PING, because a server refuses a client certificate only when the connection is used. */
function probeTls(
  { host, port }: RedisTarget['nodes'][number],
  options: ConnectionOptions,
): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = connectTls({ ...options, host, port, ...(isIP(host) === 0 ? { servername: host } : {}) });
    socket.setTimeout(TLS_PROBE_TIMEOUT_MS, () => socket.destroy());
    socket.on('secureConnect', () => socket.write('PING\r\n'));
    socket.on('data', () => socket.destroy());
    socket.on('error', resolve);
    socket.on('close', () => resolve(null));
  });
}

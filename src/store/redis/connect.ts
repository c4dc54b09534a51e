// Opens the connection to Redis (standalone, Sentinel or Cluster) and checks that the server is fit for the work.
// Called by live-store.ts. It never gives up reconnecting, and no command waits longer than COMMAND_DEADLINE_MS.
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { CardpollError } from '../../platform/errors.ts';
import { RedisClient } from './client.ts';
import { parseRedisUrl, type RedisTarget } from './redis-url.ts';

/** Where losing and regaining the connection is written; a pino logger fits. */
export interface ConnectionLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const COMMAND_DEADLINE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** A sentinel that takes longer is passed over, in time for the next one to answer within a command's deadline. */
const SENTINEL_TIMEOUT_MS = 1_000;
/** A connection that owes answers this long is dead (a vanished host sends no reset) and is replaced. */
const SOCKET_TIMEOUT_MS = 4_000;
const MAX_RECONNECT_DELAY_MS = 1_000;

const reconnectDelayMs = (attempt: number): number =>
  Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** Math.min(attempt - 1, 5));

/** @throws CardpollError `config` for an unusable URL or server, `unavailable` when nothing answers. */
export async function connectRedis(url: string, log?: ConnectionLog): Promise<RedisClient> {
  const target = parseRedisUrl(url);
  const client = new RedisClient(open(target), target.shown, COMMAND_DEADLINE_MS);
  if (log !== undefined) logConnection(client, log);
  try {
    await client.command('PING');
    await requireNoEviction(client);
  } catch (error) {
    client.close();
    throw error;
  }
  return client;
}

function open(target: RedisTarget): Redis | Cluster {
  const options = {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls ? { tls: {} } : {}),
    connectionName: 'cardpoll',
    disableClientInfo: true,
    protocol: 2,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    maxRetriesPerRequest: 2,
    // After a failover the old master turns read-only, and a restarted one loads first: connect and send again.
    reconnectOnError: (error: Error) => (/^(READONLY|LOADING)/.test(error.message) ? 2 : false),
    // It takes INFO, which the user may not have. Behind Sentinel it shows a former master (below).
    enableReadyCheck: false,
  } satisfies RedisOptions;
  if (target.mode === 'cluster') {
    return new Cluster([...target.nodes], {
      redisOptions: options,
      clusterRetryStrategy: reconnectDelayMs,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      slotsRefreshInterval: 2_000,
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
    if (lost) log.info({ redis: client.shownUrl }, 'Redis connection restored');
    up = true;
    lost = false;
  });
}

/** A server that evicts would silently forget scheduled cards. A server that hides its policy is trusted. */
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

// The live store in Redis: standalone, Sentinel or Cluster. Opened by wiring; each section of the port has its own
// file.
import type { LiveStore } from '../ports/live/live-store.ts';
import { RedisCardCache } from './cards/card-cache.ts';
import { type ConnectionLog, connectRedis, type RedisAccess } from './client/connect.ts';
import { missingRightsOf } from './client/rights.ts';
import { RedisCoordination } from './instances/coordination.ts';
import { RedisRequestClaims } from './instances/request-claims.ts';
import { Keys } from './keys.ts';
import { RedisPace } from './limits/pace.ts';
import { RedisRings } from './schedule/rings.ts';
import { RedisHealthLog, RedisHistoryLog } from './stats/history-log.ts';
import { RedisPollStats } from './stats/stats.ts';
import { identityOf, serversOf } from './vitals.ts';
import { RedisFailureLog } from './work/failure-log.ts';
import { RedisManualList } from './work/manual-list.ts';
import { RedisWorkQueue } from './work/work-queue.ts';

/**
 * Opens the store at `redis://`, `redis-sentinel://host:port,host:port/master` or
 * `redis-cluster://host:port,host:port`; `rediss...://` is the same over TLS.
 * @throws CardpollError `config` (URL, credentials, certificates, eviction policy) or `unavailable`.
 */
export async function openRedisLiveStore({
  log,
  ...access
}: RedisAccess & { readonly log?: ConnectionLog }): Promise<LiveStore> {
  const client = await connectRedis(access, log);
  const keys = new Keys(client.isCluster);
  const work = new RedisWorkQueue(client, keys);
  return {
    kind: 'redis',
    rings: new RedisRings(client, keys),
    work,
    manual: new RedisManualList(client, keys),
    stats: new RedisPollStats(client, keys),
    failures: new RedisFailureLog(client, keys),
    history: new RedisHistoryLog(client, keys),
    health: new RedisHealthLog(client, keys),
    pace: new RedisPace(client, keys),
    coordination: new RedisCoordination(client, keys),
    cards: new RedisCardCache(client, keys),
    requests: new RedisRequestClaims(client, keys),
    async ping() {
      await client.command('PING');
    },
    async now() {
      const [seconds, microseconds] = (await client.command('TIME')) as [string, string];
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    },
    identity: () => identityOf(client),
    missingRights: () => missingRightsOf(client.connection),
    servers: () => serversOf(client),
    async close() {
      work.close();
      client.close();
    },
  };
}

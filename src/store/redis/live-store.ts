// The live store in Redis: standalone, Sentinel or Cluster. Opened by wiring. Each section of the port has its own file; this
// file has the parts about the servers as a whole.
import type { LiveServer, LiveStore } from '../ports/live/live-store.ts';
import { redisCardCache } from './cards/card-cache.ts';
import type { RedisClient } from './client/client.ts';
import { type ConnectionLog, connectRedis, type RedisAccess } from './client/connect.ts';
import { infoFields, softwareOf } from './client/info.ts';
import { findMissingRights } from './client/rights.ts';
import { redisCoordination } from './instances/coordination.ts';
import { redisKeys } from './keys.ts';
import { redisPace } from './limits/pace.ts';
import { redisRings } from './schedule/rings.ts';
import { redisHealthLog, redisHistoryLog, redisPollStats } from './stats/stats.ts';
import { redisFailureLog } from './work/failure-log.ts';
import { redisManualList } from './work/manual-list.ts';
import { redisWorkQueue } from './work/work-queue.ts';

/**
 * Opens the store at `redis://`, `redis-sentinel://host:port,host:port/master` or
 * `redis-cluster://host:port,host:port`; `rediss...://` is the same over TLS.
 * @throws CardpollError `config` (URL, credentials, certificates, eviction policy) or `unavailable`.
 */
export async function openRedisLiveStore({
  log,
  ...access
}: RedisAccess & { readonly log?: ConnectionLog }): Promise<LiveStore> {
  return redisLiveStore(await connectRedis(access, log));
}

/** The store behind a connection, which it closes with itself. */
export function redisLiveStore(client: RedisClient): LiveStore {
  const keys = redisKeys(client.isCluster);
  const work = redisWorkQueue(client, keys);
  const now = async () => {
    const [seconds, microseconds] = (await client.command('TIME')) as [string, string];
    return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  };
  return {
    kind: 'redis',
    rings: redisRings(client, keys),
    work,
    manual: redisManualList(client, keys),
    stats: redisPollStats(client, keys),
    failures: redisFailureLog(client, keys),
    history: redisHistoryLog(client, keys),
    health: redisHealthLog(client, keys),
    pace: redisPace(client, keys, now),
    coordination: redisCoordination(client, keys),
    cards: redisCardCache(client, keys),
    async ping() {
      await client.command('PING');
    },
    now,
    identity: () => readIdentity(client),
    missingRights: () => findMissingRights(client.connection),
    servers: () => readServers(client),
    async close() {
      work.close();
      client.close();
    },
  };
}

/**
 * Identifies the answering servers and their run. A run id changes with every restart, and with every failover because another
 * server answers then. A user that may not run INFO gets the addresses of the masters instead, which change with a failover only.
 * This is enough for the losses of a single server at a restart: the rings and their change mark (initialiser.ts) are restored
 * from the same moment, and later changes are applied again. A restarted shard of a Cluster may lose rings but not the mark; the
 * continuous comparison finds that. An id stored in a key would not help: it is restored with the other keys.
 */
async function readIdentity(client: RedisClient): Promise<string> {
  const servers = await client.infos('server');
  const names = servers.map(({ address, info }) => /^run_id:(\w+)/m.exec(info)?.[1] ?? address);
  return names.sort().join(' ');
}

/** The state of the servers, for the doctor. The fields of a section of INFO that a server hides are unknown. */
async function readServers(client: RedisClient): Promise<LiveServer[]> {
  const infos = await client.infos();
  return infos.map(({ address, info }) => {
    const fields = infoFields(info);
    const number = (name: string): number | null => {
      const value = fields.get(name);
      return value === undefined || !/^\d+(\.\d+)?$/.test(value) ? null : Number(value);
    };
    const system = number('used_cpu_sys_main_thread');
    const user = number('used_cpu_user_main_thread');
    return {
      address,
      software: softwareOf(info),
      redisVersion: fields.get('redis_version') ?? null,
      writable: fields.get('role') === undefined ? null : fields.get('role') === 'master',
      usedBytes: number('used_memory'),
      // 0 means no limit: then the memory of the machine counts.
      limitBytes: number('maxmemory') || number('total_system_memory'),
      threadSeconds: system === null || user === null ? null : system + user,
      replicas: number('connected_slaves'),
      replicasInStep: [...fields].filter(([name, value]) => /^slave\d+$/.test(name) && isOnline(value))
        .length,
      persistent: number('aof_enabled') === null ? null : number('aof_enabled') === 1,
      savesFail:
        fields.get('rdb_last_bgsave_status') === 'err' || fields.get('aof_last_write_status') === 'err',
    };
  });
}

function isOnline(replica: string): boolean {
  return replica.split(',').includes('state=online');
}

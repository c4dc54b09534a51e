// Reads from INFO which Redis servers answer, and their state for the doctor. Used by live-store.ts. The fields of a section that a
// server hides are unknown.
import type { LiveServer } from '../ports/live/live-store.ts';
import type { RedisClient } from './client/client.ts';

export async function serversOf(client: RedisClient): Promise<LiveServer[]> {
  const infos = await client.infos();
  return infos.map(({ address, info }) => {
    const fields = new Map(
      info.split('\r\n').flatMap((line): [string, string][] => {
        const colon = line.indexOf(':');
        return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
      }),
    );
    const number = (name: string): number | null => {
      const value = fields.get(name);
      return value === undefined || !/^\d+$/.test(value) ? null : Number(value);
    };
    return {
      address,
      version: fields.get('redis_version') ?? null,
      writable: fields.get('role') === undefined ? null : fields.get('role') === 'master',
      usedBytes: number('used_memory'),
      // 0 means no limit: then the memory of the machine counts.
      limitBytes: number('maxmemory') || number('total_system_memory'),
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

/**
 * Identifies the servers that answer, and their run. A run id changes with every restart, and with every failover because
 * another server answers then. A user that may not run INFO gets the addresses of the masters instead, which change with a
 * failover only. This is enough for what a single server loses at a restart: the rings and their change mark
 * (initialiser.ts) are restored from the same moment, and later changes are applied again. A restarted shard of a Cluster
 * may lose rings but not the mark; the continuous comparison finds that. An id that is stored in a key would not help: it
 * is restored with the other keys.
 */
export async function identityOf(client: RedisClient): Promise<string> {
  const servers = await client.infos('server');
  const names = servers.map(({ address, info }) => /^run_id:(\w+)/m.exec(info)?.[1] ?? address);
  return names.sort().join(' ');
}

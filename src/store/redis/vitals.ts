// Reads the state of the Redis servers from INFO. Used by live-store.ts for the doctor. The fields of a section that a
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

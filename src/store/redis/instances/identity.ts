// Identifies the servers that answer, and their run. Used by live-store.ts.
//
// A run id changes with every restart, and with every failover because another server answers then. A user that may not
// run INFO gets the addresses of the masters instead, which change with a failover only. This is enough for what a
// single server loses at a restart: the rings and their change mark (initialiser.ts) are restored from the same moment,
// and later changes are applied again. A restarted shard of a Cluster may lose rings but not the mark; the continuous
// comparison finds that. An id that is stored in a key would not help: it is restored with the other keys.
import type { RedisClient } from '../client/client.ts';

export async function identityOf(client: RedisClient): Promise<string> {
  const servers = await client.infos('server');
  const names = servers.map(({ address, info }) => /^run_id:(\w+)/m.exec(info)?.[1] ?? address);
  return names.sort().join(' ');
}

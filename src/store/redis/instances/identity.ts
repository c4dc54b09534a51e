// Which run of which server(s) answers. Used by live-store.ts.
//
// A run id changes with every restart and with every failover, since another server answers then. A user who may not ask
// for it (INFO) gets the addresses of the masters instead, which change with a failover only. That is enough for what one
// server loses: rings and the mark of the changes they follow (initialiser.ts) come back from the same moment, and what
// changed since is followed again. A restarted shard of a Cluster may lose more than the mark does; the continuous
// comparison finds that. An id in a key would tell no more: it comes back with the rest.
import type { RedisClient } from '../client/client.ts';

export async function identityOf(client: RedisClient): Promise<string> {
  const servers = await client.infos('server');
  const names = servers.map(({ address, info }) => /^run_id:(\w+)/m.exec(info)?.[1] ?? address);
  return names.sort().join(' ');
}

// Which run of which server(s) answers: the run ids of the masters. Used by live-store.ts. A run id changes with every
// restart and with every failover, since another server answers then.
import type { RedisClient } from './client.ts';

export async function identityOf(client: RedisClient): Promise<string> {
  const runIds = (await client.serverInfos()).map((info) => /^run_id:(\w+)/m.exec(info)?.[1] ?? '');
  return runIds.sort().join(' ');
}

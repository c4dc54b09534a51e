// The fleet that this Redis belongs to: a key that the first fleet sets and every instance reads. Used by
// coordination.ts.
import type { Fleet } from '../../../domain/fleet.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const KEYS_A_SCAN = 1_000;

export async function readFleet(client: RedisClient, keys: Keys): Promise<Fleet | null> {
  const text = (await client.command('GET', keys.fleet)) as string | null;
  if (text === null) return null;
  const [id = '', ...name] = text.split(' ');
  return { id, name: name.join(' ') };
}

/** @returns the fleet that Redis belongs to now */
export async function claimFleet(client: RedisClient, keys: Keys, fleet: Fleet): Promise<Fleet> {
  const holder = await readFleet(client, keys);
  if (holder !== null) return holder;
  await client.command('SET', keys.fleet, `${fleet.id} ${fleet.name}`, 'NX');
  return (await readFleet(client, keys)) ?? fleet;
}

/** Deletes one key at a time: in a Cluster the keys are in different slots. */
export async function forgetFleet(client: RedisClient, keys: Keys): Promise<void> {
  for (const master of client.masters) {
    let cursor = '0';
    do {
      const [next, found] = await master.scan(cursor, 'MATCH', keys.all, 'COUNT', KEYS_A_SCAN);
      await Promise.all(found.map((key) => client.command('UNLINK', key)));
      cursor = next;
    } while (cursor !== '0');
  }
}

// What operators set is in force after a failover behind Sentinel and of shards of a Cluster, to replicas that lack the last orders.
import { Cluster, Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { startLimitedFleet } from '../support/limited-fleet.ts';
import { expectOrdersInForce, orderFirst, orderThen } from '../support/operators-orders.ts';
import { waitFor } from '../support/processes.ts';
import {
  addReplica,
  type RedisCluster,
  startRedisCluster,
  startRedisSentinel,
} from '../support/redis-topologies.ts';

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function clientOf(url: string): Redis {
  const client = new Redis(url, { enableReadyCheck: false });
  client.on('error', () => {});
  closing.push(() => client.disconnect());
  return client;
}

/** Its replicas keep what they have, and everybody else can use the server as before. */
async function endReplication(master: Redis): Promise<void> {
  await master.call('ACL', 'SETUSER', 'default', '-psync', '-sync');
  await master.call('CLIENT', 'KILL', 'TYPE', 'replica');
}

it('Sentinel promotes a replica without the last orders: they are in force within seconds', async () => {
  const sentinel = await startRedisSentinel();
  closing.push(() => sentinel.stop());
  const limited = await startLimitedFleet({
    ceiling: 30,
    through: async () => ({ CARDPOLL_REDIS_URL: sentinel.url }),
  });
  closing.push(() => limited.close());
  const replica = clientOf(sentinel.replica.url);
  await orderFirst(limited, replica);
  await endReplication(clientOf(sentinel.master.url));
  await orderThen(limited);
  expect(await replica.get('polling:concurrency:config:carddata'), 'what the replica has').toBe('40');
  await sentinel.master.kill();
  await expectOrdersInForce(limited);
});

it('shards of a Cluster fail over to replicas without the last orders: they are in force within seconds', async () => {
  const cluster = await startRedisCluster();
  closing.push(() => cluster.stop());
  const replicas = await replicasOfTypes(cluster);
  const limited = await startLimitedFleet({
    ceiling: 30,
    through: async () => ({ CARDPOLL_REDIS_URL: cluster.url }),
  });
  closing.push(() => limited.close());
  const keyOf = (type: string) => `{${type}}`;
  const readers = new Cluster([...cluster.urls], { scaleReads: 'slave' });
  closing.push(() => readers.disconnect());
  await orderFirst(limited, readers, keyOf);
  for (const { master } of replicas) await endReplication(clientOf(master.url));
  await orderThen(limited);
  expect(await readers.get('polling:concurrency:config:{carddata}'), 'what the replica has').toBe('40');
  for (const { master, replica } of replicas) {
    await master.kill();
    await clientOf(replica.url).cluster('FAILOVER', 'TAKEOVER');
  }
  await waitFor(async () => /master/.test(String(await clientOf(replicas[0]?.replica.url ?? '').role())));
  await expectOrdersInForce(limited);
});

/** A replica of each shard that has keys of task types: all but the first. */
async function replicasOfTypes(cluster: RedisCluster) {
  const shards = cluster.nodes.slice(1);
  return Promise.all(
    shards.map(async (master) => {
      const replica = await addReplica(cluster, master);
      closing.push(() => replica.stop());
      return { master, replica };
    }),
  );
}

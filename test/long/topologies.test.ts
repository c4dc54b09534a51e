// The daemon on a Redis Cluster and behind Sentinel: the same product, found through another URL.
import { Cluster, Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import { startRedisCluster, startRedisSentinel } from '../support/redis-topologies.ts';

const CARDS = 500;
const POLLED = ['realname', 'flow', 'card_status'];
const teardown: Array<() => Promise<void> | void> = [];
afterAll(async () => {
  for (const step of teardown.reverse()) await step();
});

/** A fleet of two daemons that has polled every card twice for every type. */
async function pollThrough(redisUrl: string): Promise<Fleet> {
  const fleet = await Fleet.start({
    simulator: ['--latency-ms', '5'],
    env: { CARDPOLL_REDIS_URL: redisUrl },
  });
  teardown.push(() => fleet.close());
  await fleet.startDaemon();
  await fleet.startDaemon();
  await fleet.setIntervals(2);
  await fleet.importCards(CARDS);
  await pollTwice(fleet, 'every card to be polled twice for every type');
  return fleet;
}

async function pollTwice(fleet: Fleet, what: string): Promise<void> {
  const { by_interface: before } = await fleet.truth();
  await waitFor(
    async () => {
      const { by_interface: calls } = await fleet.truth();
      return POLLED.every((name) => (calls[name] ?? 0) >= (before[name] ?? 0) + 2 * CARDS);
    },
    { what },
  );
}

async function stopCleanly(fleet: Fleet): Promise<void> {
  for (const { process } of fleet.daemons) expect((await process.stop('SIGTERM')).code).toBe(0);
}

describe('Redis Cluster', () => {
  it('keeps the keys of a task type on one node, under names in braces', async () => {
    const cluster = await startRedisCluster();
    teardown.push(() => cluster.stop());
    await stopCleanly(await pollThrough(cluster.url));
    const client = new Cluster([...cluster.urls]);
    for (const type of TASK_TYPES) {
      expect(await client.get(`polling:concurrency:config:{${type}}`)).toBe('100');
      expect(Number(await client.hget(`polling:stats:{${type}}`, 'succeeded'))).toBeGreaterThan(CARDS);
    }
    client.disconnect();
  });

  it('says that it waits for a shard that is away, whichever it is, and polls on when it is back', async () => {
    const cluster = await startRedisCluster();
    teardown.push(() => cluster.stop());
    const fleet = await pollThrough(cluster.url);
    for (const shard of cluster.nodes) {
      await shard.kill();
      await waitFor(async () => !(await fetch(`${fleet.daemons[0]?.url}/readyz`)).ok, {
        what: 'the daemon to tell that it is not ready',
      });
      await shard.restart();
      await pollTwice(fleet, `every card to be polled twice after shard ${shard.port} was away`);
    }
  });
});

describe('Redis Sentinel', () => {
  it('uses the names of the operations interface on the master', async () => {
    const sentinel = await startRedisSentinel();
    teardown.push(() => sentinel.stop());
    await stopCleanly(await pollThrough(sentinel.url));
    const client = new Redis(sentinel.master.url);
    expect(Number(await client.hget('polling:stats:realname', 'succeeded'))).toBeGreaterThan(CARDS);
    client.disconnect();
  });
});

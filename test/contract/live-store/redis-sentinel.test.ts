// Redis behind Sentinel: the store follows the master through a failover.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { HeldConnections } from '../../support/held-connections.ts';
import { type RedisSentinel, startRedisSentinel } from '../../support/redis-topologies.ts';
import { asDocumentedUser } from '../../support/redis-user.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, queueCards, REALNAME, range, settle } from './stores.ts';

let deployment: RedisSentinel;

beforeAll(async () => {
  deployment = await startRedisSentinel();
});

afterAll(() => deployment.stop());

it('works through a failover and keeps the queue', async () => {
  const { url, master, replica: standby } = deployment;
  const store = await openRedisLiveStore({ url: await asDocumentedUser(url, [master.url, standby.url]) });
  const identity = await store.identity();
  await queueCards(store, range(10));
  const { items } = await claim(store, 4);
  const replica = new Redis(deployment.replica.url);
  // Sentinel cuts the clients of a server it promotes; this one reconnects.
  replica.on('error', () => {});
  await waitFor(async () => (await replica.get('polling:concurrency:current:realname')) === '4');
  await deployment.master.kill();
  await expect(claim(store, 1)).rejects.toMatchObject({ kind: 'unavailable' });
  await waitFor(async () => (await replica.role())[0] === 'master', {
    what: 'the replica to become master',
  });
  replica.disconnect();
  const promoted = performance.now();
  await waitFor(() => store.ping().then(() => true));
  expect(performance.now() - promoted).toBeLessThan(60_000);
  expect(await settle(store, items, 'done')).toEqual({ fenced: 0 });
  expect(await store.work.counts(REALNAME)).toMatchObject({ queueLength: 6, due: 6, inFlight: 0 });
  expect((await claim(store, 6)).items).toHaveLength(6);
  expect(await store.identity(), 'known without INFO').not.toBe(identity);
  await store.close();
});

// The notice of the failover then finds the driver asking for the master, which ends its connections for good.
it('works again even if the sentinel answers no one until the failover is over', async () => {
  const one = await startRedisSentinel(1);
  const [sentinel] = one.sentinels;
  if (sentinel === undefined) throw new Error('no sentinel');
  const toSentinel = await HeldConnections.before(sentinel.port);
  const store = await openRedisLiveStore({
    url: `redis-sentinel://127.0.0.1:${toSentinel.port}/mymaster`,
  });
  let heard = 0;
  store.work.onWork(REALNAME, () => {
    heard += 1;
  });
  const [atSentinel, replica] = [new Redis(sentinel.url), new Redis(one.replica.url)];
  replica.on('error', () => {});
  const subscribers = async () =>
    String(await atSentinel.client('LIST', 'TYPE', 'PUBSUB'))
      .split('\n')
      .filter(Boolean);
  // One for its commands, one for what it hears.
  await waitFor(async () => (await subscribers()).length === 2, {
    what: 'the store to listen for failovers',
  });

  toSentinel.hold();
  await one.master.kill();
  await waitFor(() => toSentinel.held >= 2, { what: 'the store to ask for the master' });
  await waitFor(async () => (await replica.role())[0] === 'master', {
    what: 'the replica to become master',
  });
  await waitFor(async () => (await subscribers()).length === 0, {
    what: 'the store to hear of the failover',
  });
  toSentinel.release();
  await waitFor(() => store.ping().then(() => true));
  await waitFor(
    async () => {
      await store.manual.push(REALNAME, ['1']);
      return heard > 0;
    },
    { what: 'the store to hear of work' },
  );

  await store.close();
  for (const client of [atSentinel, replica]) client.disconnect();
  await toSentinel.close();
  await one.stop();
});

it('asks the next sentinel when one hangs', async () => {
  deployment.sentinels[0]?.pause();
  const store = await waitFor(() => openRedisLiveStore({ url: deployment.url }));
  await store.close();
  deployment.sentinels[0]?.resume();
});

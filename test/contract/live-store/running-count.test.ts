// The running count that operators see, and the slots that it should show.

import { execFileSync } from 'node:child_process';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { pauseByOperator } from '../../support/limits.ts';
import { redisServerPath } from '../../support/provision.ts';
import { claim, describeLiveStore, queueCards, REALNAME, settle } from './stores.ts';

describeLiveStore('running count', (live) => {
  const count = () => live.store.work.runningCount(REALNAME);

  it('shows the slots held', async () => {
    expect(await count()).toMatchObject({ held: 0, live: 0 });
    await queueCards(live.store, [1, 2, 3]);
    const { items } = await claim(live.store, 2);
    expect(await count()).toEqual({ shown: '2', held: 2, live: 2 });
    await settle(live.store, items, 'done');
    expect(await count()).toEqual({ shown: '0', held: 0, live: 0 });
  });

  it('distinguishes live slots from slots whose lease has ended', async () => {
    await queueCards(live.store, [1, 2]);
    await claim(live.store, 1, { leaseMs: 1 });
    await pauseByOperator(live.store.work, REALNAME, { ms: 60_000, reason: '', by: 'test' });
    await expect.poll(count).toMatchObject({ held: 1, live: 0 });
  });
});

let store: LiveStore;
let redis: Redis;
beforeAll(async () => {
  const { url } = await freshRedis();
  store = await openRedisLiveStore({ url });
  redis = new Redis(url);
});
afterAll(async () => {
  redis.disconnect();
  await store.close();
});

it('shows what another client wrote, and changes nothing', async () => {
  for (const planted of ['500', 'nonsense']) {
    await redis.set('polling:concurrency:current:realname', planted);
    expect(await store.work.runningCount(REALNAME)).toEqual({ shown: planted, held: 0, live: 0 });
    expect(await redis.get('polling:concurrency:current:realname')).toBe(planted);
  }
  await redis.del('polling:concurrency:current:realname');
  await redis.rpush('polling:concurrency:current:realname', 'a list');
  expect((await store.work.runningCount(REALNAME)).shown).toBe('no number');
});

it('reports the state of the server', async () => {
  const { port } = redis.options;
  expect(await store.servers()).toEqual([
    {
      address: `127.0.0.1:${port}`,
      // As the program names itself: `Valkey server v=9.1.2 sha=...`.
      software: execFileSync(redisServerPath(), ['--version'], { encoding: 'utf8' }).replace(
        / server v=(\S+).*/s,
        ' $1',
      ),
      redisVersion: expect.stringMatching(/^\d+\.\d+\.\d+/),
      writable: true,
      usedBytes: expect.any(Number),
      limitBytes: expect.any(Number),
      threadSeconds: expect.any(Number),
      replicas: 0,
      replicasInStep: 0,
      persistent: false,
      savesFail: false,
    },
  ]);
});

// Rings that are built together stay apart: each begins its first revolution after its stagger.
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { describeLiveStore, onlyRing, REALNAME, range } from './stores.ts';

const RING = { configId: 1, taskType: REALNAME } as const;
const SETTINGS = { intervalMs: 600_000, enabled: true };
const WHOLE = { maxBuckets: 1_024, queueCap: 1e6, fence: 1 };

describeLiveStore('a staggered ring', (live) => {
  it('begins that much later', async () => {
    const { rings } = live.store;
    await rings.configure(RING, { ...SETTINGS, staggerMs: 90_000 });
    await rings.startGeneration(RING, 64);
    await rings.add(RING, range(100));
    await rings.activate(RING);
    const { anchorMs } = await onlyRing(live.store);
    expect(Math.abs(anchorMs - (await live.store.now()) - 90_000)).toBeLessThan(5_000);
    const { moved, ring } = await rings.advance(RING, WHOLE);
    expect({ moved, anchorMs: ring.anchorMs }, 'no clock was set back').toEqual({ moved: 0, anchorMs });
    await rings.configure(RING, { ...SETTINGS, staggerMs: 30_000 });
    const again = await onlyRing(live.store);
    expect(again.anchorMs).toBe(anchorMs);
  });
});

it('a ring of a release without a stagger is moved once, by that much, and misses no step', async () => {
  const server = await freshRedis();
  const store = await openRedisLiveStore({ url: server.url });
  const redis = new Redis(server.url);
  try {
    await store.rings.configure(RING, SETTINGS);
    await store.rings.startGeneration(RING, 64);
    await store.rings.add(RING, range(100));
    const before = (await store.rings.advance(RING, WHOLE)).ring;
    const [key] = (await redis.keys('*ring*')).filter((name) => name.endsWith('1'));
    expect(await redis.hdel(key as string, 'stagger_ms')).toBe(1);
    for (const staggerMs of [4_000, 4_000, 2_000]) {
      await store.rings.configure(RING, { ...SETTINGS, staggerMs });
      const { anchorMs, cursor } = await onlyRing(store);
      expect({ anchorMs, cursor }).toEqual({ anchorMs: before.anchorMs + 4_000, cursor: before.cursor });
    }
  } finally {
    redis.disconnect();
    await store.close();
  }
});

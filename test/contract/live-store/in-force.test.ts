// What lets claims begin in a life of the store: limits and pauses of record are in force, and slots of calls in flight are held.
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { setLimit } from '../../support/limits.ts';
import { asDocumentedUser } from '../../support/redis-user.ts';
import { claim, describeLiveStore, queueCards, REALNAME } from './stores.ts';

const WANTED = { maxConcurrency: 3, leaderLimit: 2, pause: 'kept' } as const;

describeLiveStore('in force', (live) => {
  const counts = () => live.store.work.counts(REALNAME);

  it('puts nothing in when something was set since it was looked at', async () => {
    const seen = await live.store.work.inForce(REALNAME);
    await live.store.work.setEffectiveConcurrency(REALNAME, 7);
    expect(await live.store.work.putInForce(REALNAME, seen, WANTED, 0)).toBe(false);
    expect(await counts()).toMatchObject({ leaderLimit: 7 });
  });
});

/** @param change rules of the user after those of docs/security.md */
async function emptyRedis(
  ...change: string[]
): Promise<{ store: LiveStore; lose: () => Promise<LiveStore> }> {
  const { url } = await freshRedis();
  const store = await openRedisLiveStore({ url: await asDocumentedUser(url, [url], ...change) });
  const admin = new Redis(url);
  onTestFinished(async () => {
    admin.disconnect();
    await store.close();
  });
  return { store, lose: async () => admin.flushall().then(() => store) };
}

async function emptyEmbedded(): Promise<{ store: LiveStore; lose: () => Promise<LiveStore> }> {
  const open = () => openEmbeddedLiveStore({ clock: systemClock });
  return { store: open(), lose: async () => open() };
}

describe.each([
  ['Redis', () => emptyRedis()],
  ['Redis, whose user may not run INFO', () => emptyRedis('-info')],
  ['embedded', emptyEmbedded],
])('a new life of the store: %s', (_, open) => {
  it('counts calls in flight whose slots are held again, also retries, until they are released', async () => {
    const { store, lose } = await open();
    await queueCards(store, [1, 2]);
    const claimed = (await claim(store, 2)).items;
    const items = claimed.map((item, i) => (i === 0 ? item : { ...item, lane: 'retry' as const }));
    expect(items).toHaveLength(2);
    await store.work.release(REALNAME, items);
    await store.work.hold(REALNAME, items);
    expect(await store.work.counts(REALNAME), 'reset by an operator').toMatchObject({ inFlight: 0 });
    const empty = await lose();
    await empty.work.hold(REALNAME, items);
    await empty.work.hold(REALNAME, items);
    await empty.manual.push(REALNAME, ['1', '2', '3']);
    await setLimit(empty.work, REALNAME, 2);
    expect(await empty.work.inForce(REALNAME)).toMatchObject({ held: 2 });
    expect((await claim(empty, 2)).items).toEqual([]);
    await empty.work.release(REALNAME, items);
    expect((await claim(empty, 2)).items).toHaveLength(2);
  });

  it('grants nothing before limits are put in, which takes the time in which slots are held again', async () => {
    const { store, lose } = await open();
    const put = async (one: LiveStore, afterMs: number) =>
      one.work.putInForce(REALNAME, await one.work.inForce(REALNAME), WANTED, afterMs);
    await store.manual.push(REALNAME, ['1', '2', '3']);
    expect(await claim(store, 3)).toMatchObject({ inForce: false, items: [], freeSlots: 0 });
    expect(await put(store, 60_000)).toBe(false);
    expect(await store.work.inForce(REALNAME)).toMatchObject({ isInForce: false, maxConcurrency: null });
    await expect.poll(() => put(store, 1)).toBe(true);
    expect((await claim(store, 3)).items).toHaveLength(2);
    expect(await put(store, 60_000), 'later changes are put in at once').toBe(true);
    const empty = await lose();
    await empty.manual.push(REALNAME, ['1']);
    expect((await claim(empty, 1)).items).toEqual([]);
    expect(await put(empty, 60_000)).toBe(false);
  });
});

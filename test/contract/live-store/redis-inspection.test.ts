// What operators see in Redis (operations interface, section 1.1): names, kinds and values, and a running count that
// heals.

import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { card } from '../../support/cards.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { setLimit } from '../../support/limits.ts';
import { statsDelta } from '../../support/stats-delta.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, queueCards, REALNAME, range, settle } from './stores.ts';

const CURRENT = 'polling:concurrency:current:realname';
const SLOTS = 'polling:concurrency:slots:realname';

describe('Redis as operators see it', () => {
  let store: LiveStore;
  let redis: Redis;

  beforeEach(async () => {
    const server = await freshRedis();
    store = await openRedisLiveStore({ url: server.url });
    redis = new Redis(server.url);
  });

  afterEach(async () => {
    redis.disconnect();
    await store.close();
  });

  it('has the mandated names and kinds', async () => {
    await queueCards(store, range(5));
    await store.manual.push(REALNAME, ['1', '2', '3']);
    await setLimit(store.work, REALNAME, 77);
    await claim(store, 2);
    await store.stats.record(REALNAME, 'w', 1, statsDelta({ succeeded: 3, failed: 1, durationMs: 100 }));
    await store.coordination.saveInitProgress({
      status: 'running',
      total: 10,
      loaded: 5,
      lastCardId: 5,
      batch: 1,
      batches: 2,
      startedAtMs: 1_795_000_000_000,
      updatedAtMs: 1_795_000_001_000,
      finishedAtMs: null,
      changeMark: 'mark',
      reason: 'build',
    });
    expect(await redis.zcard('polling:queue:realname')).toBe(5);
    expect(await redis.llen('polling:manual:realname')).toBe(2);
    expect(await redis.get(CURRENT)).toBe('2');
    expect(await redis.get('polling:concurrency:config:realname')).toBe('77');
    expect(await redis.hgetall('polling:stats:realname')).toMatchObject({
      total: '4',
      succeeded: '3',
      failed: '1',
      avg_duration_ms: '25.0',
    });
    expect(await redis.hgetall('polling:init:progress')).toEqual({
      status: 'running',
      total: '10',
      loaded: '5',
      last_card_id: '5',
      batch: '1',
      batches: '2',
      started_at: '2026-11-18T11:06:40.000Z',
      updated_at: '2026-11-18T11:06:41.000Z',
      finished_at: '',
      change_mark: 'mark',
      reason: 'build',
    });
  });

  it('keeps the growth of usage of seventy minutes, as short text', async () => {
    const key = 'polling:usage-growth:carddata';
    const minute = Math.floor(Date.now() / 60_000);
    for (let ago = -3; ago < 90; ago += 1) await redis.hset(key, minute - ago, '1=1');
    await redis.hdel(key, String(minute), String(minute + 1));
    const usageGrowth = Object.fromEntries(range(81, 0).map((bucket) => [bucket, 12_345]));
    await store.stats.record(
      'carddata',
      'w',
      1,
      statsDelta({ succeeded: 1, failed: 0, durationMs: 1, usageGrowth }),
    );
    const minutes = (await redis.hkeys(key)).map(Number).toSorted((a, b) => b - a);
    expect(minutes).toHaveLength(70);
    const [newest = 0] = minutes;
    expect([minute, minute + 1]).toContain(newest);
    expect(minutes).toEqual(range(70, newest - 69).toReversed());
    expect((await redis.hget(key, String(newest)))?.length).toBeLessThan(800);
    expect(await redis.pttl(key)).toBeGreaterThan(69 * 60_000);
  });

  it('keeps the running count equal to the slots through claim, release, settle and reset', async () => {
    await queueCards(store, range(10));
    const { items } = await claim(store, 8);
    expect(await redis.get(CURRENT)).toBe('8');
    await store.work.release(REALNAME, items.slice(0, 3));
    expect(await redis.get(CURRENT)).toBe('5');
    await settle(store, items.slice(0, 5), 'done');
    expect(await redis.get(CURRENT)).toBe('3');
    await store.work.resetSlots(REALNAME);
    expect(await redis.get(CURRENT)).toBe('0');
  });

  it('lets the running count expire by itself when no instance is left to reap it', async () => {
    await queueCards(store, range(2));
    await claim(store, 2, { leaseMs: 200 });
    expect(await redis.get(CURRENT)).toBe('2');
    expect(await redis.pttl(CURRENT)).toBeLessThanOrEqual(701);
    await waitFor(async () => (await redis.get(CURRENT)) === null, { what: 'the running count to expire' });
  });

  it('corrects a foreign running count: reap returns what it found, and claims go on', async () => {
    await redis.set(CURRENT, 320);
    await queueCards(store, range(10));
    expect(await store.work.reap(REALNAME)).toEqual({ expiredSlots: 0, healedFrom: 320 });
    expect(await redis.get(CURRENT)).toBe('0');
    await redis.set(CURRENT, -5);
    expect((await claim(store, 10)).items).toHaveLength(10);
    expect(await redis.get(CURRENT)).toBe('10');
    await redis.hset(`${CURRENT}:x`, 'a', 1);
    await redis.rename(`${CURRENT}:x`, CURRENT);
    expect(await store.work.reap(REALNAME)).toEqual({ expiredSlots: 0, healedFrom: 0 });
    expect(await redis.get(CURRENT)).toBe('10');
  });

  it('keeps slots as a skip list, since adding to a list reads every score in it', async () => {
    await queueCards(store, range(3));
    const { items } = await claim(store, 2);
    expect(await redis.object('ENCODING', SLOTS)).toBe('skiplist');
    expect(await redis.zcard(SLOTS)).toBe(2);
    await settle(store, items, 'done');
    await claim(store, 1);
    expect(await redis.object('ENCODING', SLOTS)).toBe('skiplist');
  });

  it('a reset makes work of an instance of 0.2.0 due, whose slots have no token in their name', async () => {
    await queueCards(store, [1]);
    await store.manual.push(REALNAME, ['2:t']);
    const { items } = await claim(store, 2);
    const token = items[0]?.token ?? '';
    await redis.del(SLOTS);
    await redis.zadd(SLOTS, token, '1', token, 'm2:t');
    expect(await store.work.resetSlots(REALNAME)).toEqual({ previous: 2, current: 0 });
    expect(await store.work.counts(REALNAME)).toMatchObject({ due: 1, manualLength: 1, inFlight: 0 });
    expect(await settle(store, items, 'done')).toEqual({ fenced: 2 });
  });

  it('a reset reports and clears a leaked count', async () => {
    await redis.set(CURRENT, 320);
    expect(await store.work.resetSlots(REALNAME)).toEqual({ previous: 320, current: 0 });
    expect(await redis.get(CURRENT)).toBe('0');
  });

  it.each(['many', '', ' '])(
    'claims nothing by a limit that is no number ("%s"), until the limit of record is put back',
    async (limit) => {
      await queueCards(store, range(3));
      await redis.set('polling:concurrency:config:realname', limit);
      expect((await claim(store, 5)).items).toEqual([]);
      expect((await store.work.counts(REALNAME)).maxConcurrency).toBeNull();
      await setLimit(store.work, REALNAME, 2);
      expect((await claim(store, 5)).items).toHaveLength(2);
    },
  );

  it('claims nothing where the limit was deleted', async () => {
    await queueCards(store, range(3));
    await redis.del('polling:concurrency:config:realname');
    expect(await claim(store, 5)).toMatchObject({ inForce: true, items: [], freeSlots: 0 });
  });

  it('claims nothing by what another server put into force', async () => {
    await queueCards(store, range(3));
    await redis.set('polling:in-force:realname', '0123456789abcdef0123456789abcdef01234567');
    expect(await claim(store, 5)).toMatchObject({ inForce: false, items: [], freeSlots: 0 });
    expect(await store.work.counts(REALNAME)).toMatchObject({ inForce: false, due: 3 });
    await setLimit(store.work, REALNAME, 3);
    expect(await claim(store, 5)).toMatchObject({ inForce: true, freeSlots: 0 });
  });

  it('keeps ring buckets as intsets and leaves no bucket behind', async () => {
    const ring = { configId: 1, taskType: REALNAME };
    await store.rings.configure(ring, { intervalMs: 60_000, enabled: true });
    await store.rings.startGeneration(ring, 128);
    await store.rings.add(ring, range(16_000));
    const buckets = await redis.keys('polling:ring:realname:1:1:*');
    expect(buckets).toHaveLength(128);
    expect(new Set(await Promise.all(buckets.map((key) => redis.object('ENCODING', key))))).toEqual(
      new Set(['intset']),
    );
    await store.rings.startGeneration(ring, 256);
    await store.rings.add(ring, range(16_000));
    await store.rings.activate(ring);
    expect(await redis.keys('polling:ring:realname:1:1:*')).toEqual([]);
    expect(await redis.keys('polling:ring:realname:1:2:*')).toHaveLength(256);
    await store.rings.drop(ring);
    expect(await redis.keys('polling:ring:*')).toEqual([]);
    expect(await redis.exists('polling:ring-trash:realname')).toBe(0);
  });

  it('counts the members again after buckets were lost', async () => {
    const ring = { configId: 1, taskType: REALNAME };
    await store.rings.configure(ring, { intervalMs: 60_000, enabled: true });
    await store.rings.startGeneration(ring, 128);
    await store.rings.add(ring, range(16_000));
    const lost = (await redis.keys('polling:ring:realname:1:1:*')).slice(0, 40);
    await redis.unlink(...lost);
    await store.rings.add(ring, range(16_000));
    expect((await store.rings.list())[0]?.members).toBeGreaterThan(16_000);
    await store.rings.recount(ring);
    expect((await store.rings.list())[0]?.members).toBe(16_000);
  });

  it('removes what a crash left of an abandoned generation', async () => {
    const ring = { configId: 1, taskType: REALNAME };
    await redis.sadd('polling:ring:realname:5:3:17', 1, 2, 3);
    await redis.hset('polling:ring-trash:realname', '5:3', 64);
    await store.rings.configure(ring, { intervalMs: 60_000, enabled: true });
    await store.rings.startGeneration(ring, 64);
    expect(await redis.keys('polling:ring*5:3*')).toEqual([]);
  });

  it('keeps card cache entries short enough for a listpack', async () => {
    const usage = {
      month: '2026-11',
      usedMb: 123_456.789,
      lastReadingMb: 123_456.789,
      suspectedMb: null,
      jump: null,
      readAtMs: 1_795_000_000_123,
    };
    const large = { iccid: '8986001234567890123456', carrierId: 460_011, status: 999, allowanceMb: 102_400 };
    const known = card(30_000_001, { ...large, realNameVerified: true, stopped: true, usage });
    await store.cards.put([known], 60_000);
    const [key = ''] = await redis.keys('polling:card-cache:*');
    expect(Buffer.byteLength((await redis.hget(key, '30000001')) ?? '')).toBeLessThanOrEqual(64);
    expect(await redis.object('ENCODING', key)).toBe('listpack');
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });
});

// Redis misbehaves: cut connections, restarts, frozen and foreign servers. Nothing is lost or done twice, errors come
// in time, and work resumes by itself.

import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { setLimit, setLimits } from '../../support/limits.ts';
import { statsDelta } from '../../support/stats-delta.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, queueCards, REALNAME, range, settle } from './stores.ts';

/** Drivers with defaults would wait indefinitely; three seconds are far below that, even on a busy machine. */
const LONG_MS = 60_000;
const opened: LiveStore[] = [];

async function open(url: string): Promise<LiveStore> {
  const store = await openRedisLiveStore({ url });
  opened.push(store);
  return store;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

it('connections cut in the middle of traffic lose nothing and do nothing twice', async () => {
  const server = await freshRedis();
  const [first, second] = [await open(server.url), await open(server.url)];
  await setLimit(first.work, REALNAME, 50);
  await queueCards(first, range(4_000));
  await first.manual.push(REALNAME, range(400, 50_000).map(String));
  const done: string[] = [];
  let flushes = 0;
  let cuts = 0;
  const work = async (store: LiveStore, index: number): Promise<void> => {
    for (let flush = 1; done.length < 4_400; flush += 1) {
      const { items } = await claim(store, 10, { instanceId: `worker-${index}` });
      await store.work.release(REALNAME, items);
      await settle(store, items, 'done');
      const delta = { succeeded: items.length, failed: 0, durationMs: 1 };
      await store.stats.record(REALNAME, `worker-${index}`, flush, statsDelta(delta));
      done.push(...items.map((item) => item.member));
      flushes += 1;
    }
  };
  const killer = new Redis(server.url);
  const cut = async (): Promise<void> => {
    while (done.length < 4_400) {
      const before = flushes;
      await killer.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      cuts += 1;
      await waitFor(() => flushes > before + 10 || done.length >= 4_400);
    }
  };
  await Promise.all([work(first, 1), work(first, 2), work(second, 3), cut()]);
  killer.disconnect();
  expect(cuts).toBeGreaterThan(5);
  expect(done).toHaveLength(4_400);
  expect(new Set(done).size).toBe(4_400);
  expect(await first.work.counts(REALNAME)).toMatchObject({ queueLength: 0, inFlight: 0, manualLength: 0 });
  expect((await first.stats.read(REALNAME)).total).toBe(4_400);
});

it('a server that restarts empty is worked with at once, scripts included', async () => {
  const server = await freshRedis();
  const store = await open(server.url);
  await queueCards(store, range(3));
  await server.kill();
  await server.restart();
  const from = performance.now();
  await waitFor(() => store.ping().then(() => true));
  expect(performance.now() - from).toBeLessThan(LONG_MS);
  expect(await store.work.counts(REALNAME)).toMatchObject({ queueLength: 0 });
  await queueCards(store, range(3));
  expect((await claim(store, 3)).items).toHaveLength(3);
});

it('many commands that a read-only server refuses at once are sent again, without a warning of Node', async () => {
  const server = await freshRedis();
  const store = await open(server.url);
  const warnings: string[] = [];
  const warned = ({ message }: Error) => warnings.push(message);
  process.on('warning', warned);
  const operator = new Redis(server.url);
  await operator.call('REPLICAOF', '127.0.0.1', '1');
  const set = Promise.all(range(30).map((limit) => setLimit(store.work, REALNAME, limit)));
  const refused = async () =>
    Number(/READONLY:count=(\d+)/.exec(await operator.info('errorstats'))?.[1] ?? 0);
  await waitFor(async () => (await refused()) >= 20);
  await operator.call('REPLICAOF', 'NO', 'ONE');
  await set;
  // Node emits warnings in the next tick.
  await new Promise(setImmediate);
  process.off('warning', warned);
  operator.disconnect();
  expect(await store.work.counts(REALNAME)).toMatchObject({ maxConcurrency: expect.any(Number) });
  expect(warnings).toEqual([]);
});

it('scripts flushed on the server are sent again', async () => {
  const server = await freshRedis();
  const store = await open(server.url);
  await queueCards(store, range(3));
  const admin = new Redis(server.url);
  await admin.script('FLUSH');
  admin.disconnect();
  const claims = await Promise.all([claim(store, 1), claim(store, 1), claim(store, 1)]);
  expect(new Set(claims.flatMap(({ items }) => items.map((item) => item.cardId))).size).toBe(3);
});

it('a server that is gone answers with an error in time, and work resumes within 5 s of its return', async () => {
  const server = await freshRedis();
  const store = await open(server.url);
  await server.kill();
  for (let i = 0; i < 3; i += 1) {
    const from = performance.now();
    await expect(claim(store, 1)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'redis_unreachable',
      hint: expect.stringContaining('Redis'),
    });
    expect(performance.now() - from).toBeLessThan(LONG_MS);
  }
  await server.start();
  const from = performance.now();
  await waitFor(() => store.ping().then(() => true));
  expect(performance.now() - from).toBeLessThan(LONG_MS);
});

it('a frozen server answers with an error in time, and work resumes when it thaws', async () => {
  const server = await freshRedis();
  const store = await open(server.url);
  await queueCards(store, range(3));
  server.pause();
  const from = performance.now();
  await expect(claim(store, 1)).rejects.toMatchObject({ kind: 'unavailable', code: 'redis_unreachable' });
  expect(performance.now() - from).toBeLessThan(LONG_MS);
  server.resume();
  const thawed = performance.now();
  await waitFor(() => store.ping().then(() => true));
  expect(performance.now() - thawed).toBeLessThan(LONG_MS);
});

it('opening fails at once where nothing listens, and names the address without the password', async () => {
  const server = await freshRedis();
  await server.kill();
  const failure = openRedisLiveStore({ url: `redis://user:geheim@127.0.0.1:${server.port}` });
  await expect(failure).rejects.toMatchObject({ kind: 'unavailable', code: 'redis_unreachable' });
  await expect(failure).rejects.toThrow(`user@127.0.0.1:${server.port}`);
  await expect(failure).rejects.not.toThrow('geheim');
});

it('opening refuses a server that evicts keys', async () => {
  const server = await freshRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  await expect(openRedisLiveStore({ url: server.url })).rejects.toMatchObject({
    kind: 'config',
    code: 'redis_evicts',
  });
});

it('a server that evicts keys after a reconnection is warned of, and used', async () => {
  const server = await freshRedis();
  const warned: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => void warned.push(message) };
  const store = await openRedisLiveStore({ url: server.url, log });
  opened.push(store);
  const admin = new Redis(server.url);
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await waitFor(() => warned.some((message) => message.includes('maxmemory-policy allkeys-lru')));
  admin.disconnect();
  await store.ping();
});

it('credentials are used, and wrong ones are named as the fault', async () => {
  const server = await freshRedis();
  const admin = new Redis(server.url);
  await admin.acl('SETUSER', 'poller', 'on', '>s3cret/+@', '~*', '+@all');
  await admin.acl('SETUSER', 'default', 'off');
  const address = `127.0.0.1:${server.port}`;
  const store = await open(`redis://poller:${encodeURIComponent('s3cret/+@')}@${address}/2`);
  await store.ping();
  await expect(openRedisLiveStore({ url: `redis://poller:wrong@${address}` })).rejects.toMatchObject({
    kind: 'config',
    code: 'redis_auth',
  });
  await admin.acl('SETUSER', 'default', 'on');
  admin.disconnect();
});

it('a server out of memory refuses new work with a clear error and lets running work end', async () => {
  const server = await freshRedis();
  const store = await open(server.url);
  await queueCards(store, range(3));
  const { items } = await claim(store, 3);
  const admin = new Redis(server.url);
  await admin.config('SET', 'maxmemory', '1');
  const refused = { kind: 'unavailable', code: 'redis_refused' };
  await expect(store.manual.push(REALNAME, ['1'])).rejects.toMatchObject(refused);
  await expect(queueCards(store, range(3))).rejects.toMatchObject(refused);
  await store.work.release(REALNAME, items);
  expect(await settle(store, items, 'done')).toEqual({ fenced: 0 });
  await admin.config('SET', 'maxmemory', '0');
  admin.disconnect();
  expect(await store.work.counts(REALNAME)).toMatchObject({ queueLength: 0, inFlight: 0, manualLength: 0 });
});

it('a server out of memory keeps the entries of others when those of a trigger are removed', async () => {
  const server = await freshRedis();
  const store = await open(server.url);
  await setLimits(store.work);
  await store.manual.push(REALNAME, ['1:ours', '2:theirs']);
  const admin = new Redis(server.url);
  await admin.config('SET', 'maxmemory', '1');
  await store.manual.remove(REALNAME, ['ours']);
  await admin.config('SET', 'maxmemory', '0');
  admin.disconnect();
  expect((await claim(store, 2)).items).toMatchObject([{ member: '2:theirs' }]);
});

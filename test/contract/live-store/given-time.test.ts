// A Redis whose scripts have the time and the run id of a world (test/support/timed-redis.ts), and copies of what it has.
import { beforeEach, expect, it } from 'vitest';
import { DEFAULT_MAX_CONCURRENCY } from '../../../src/domain/limits/operator-limits.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { RedisClient } from '../../../src/store/redis/client/client.ts';
import { redisLiveStore } from '../../../src/store/redis/live-store.ts';
import { card } from '../../support/cards.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { setLimits } from '../../support/limits.ts';
import { TimedConnection } from '../../support/timed-redis.ts';
import { copyOfAll } from '../../world/live/snapshots.ts';
import { claim, REALNAME, range } from './stores.ts';

const TTL_MS = 60_000;
const given = { nowMs: 0, life: '', published: [] as string[] };
let connection: TimedConnection;
let store: LiveStore;

beforeEach(async () => {
  Object.assign(given, { nowMs: Date.parse('2031-01-01T00:00:00Z'), life: 'a1', published: [] });
  const { port } = await freshRedis();
  connection = new TimedConnection(
    { port },
    {
      now: () => given.nowMs,
      life: () => given.life,
      published: (channel) => given.published.push(channel),
    },
  );
  store = redisLiveStore(new RedisClient(connection, 'redis://given', 60_000));
  return () => store.close();
});

const cached = async () => [...(await store.cards.get(range(3))).keys()];

it('expires keys by the given time, also after the time to live was set again', async () => {
  await store.cards.put([card(1)], TTL_MS);
  given.nowMs += TTL_MS - 1;
  expect(await cached()).toEqual([1]);
  given.nowMs += 1;
  expect(await cached()).toEqual([]);
  await store.cards.put([card(1)], TTL_MS);
  given.nowMs += TTL_MS - 1;
  await store.stats.noteUsagePeak(0, 7);
  await store.cards.put([card(1)], TTL_MS);
  expect(await cached()).toEqual([1]);
});

it('keeps a key that was made again without a time to live', async () => {
  await connection.call('SET', 'polling:fleet', 'a', 'PX', TTL_MS);
  await connection.call('SET', 'polling:fleet', 'b');
  given.nowMs += 2 * TTL_MS;
  expect(await connection.call('GET', 'polling:fleet')).toBe('b');
});

it('answers as another server in another life, in which nothing is in force', async () => {
  await setLimits(store.work);
  const identity = await store.identity();
  await store.manual.push(REALNAME, ['1', '2']);
  expect(given.published).toEqual(['polling:work:realname']);
  expect((await claim(store, 1)).items).toHaveLength(1);
  given.life = 'b2';
  expect(await store.identity()).not.toBe(identity);
  expect((await claim(store, 1)).items).toEqual([]);
  expect((await store.work.counts(REALNAME)).maxConcurrency).toBe(DEFAULT_MAX_CONCURRENCY);
});

it('puts a copy back, with what was left of its times to live', async () => {
  await store.cards.put([card(1)], TTL_MS);
  const putBack = await copyOfAll(connection);
  await store.cards.drop([1]);
  await store.cards.put([card(2)], TTL_MS);
  putBack();
  expect(await cached()).toEqual([1]);
  given.nowMs += TTL_MS;
  expect(await cached()).toEqual([]);
});

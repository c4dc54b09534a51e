// Failovers that lose writes: a Redis replica and a PostgreSQL standby that are promoted without the last changes. The
// daemon goes on with what they know, and rings and cards agree again by themselves.
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { type PostgresServer, query, standbyOf, startPostgres } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';
import { startRedisSentinel } from '../support/redis-topologies.ts';

const CARDS = 2_000;

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Waits until every ring counts exactly so many cards. */
async function counted(fleet: Fleet, cards: number): Promise<void> {
  let seen: unknown;
  await waitFor(
    async () => {
      const { items } = await fleet.get<{ items: Array<{ scheduled_cards: number }> }>(
        '/api/admin/polling-stats/queues',
      );
      seen = items.map(({ scheduled_cards }) => scheduled_cards);
      return items.every(({ scheduled_cards }) => scheduled_cards === cards);
    },
    { everyMs: 250, what: `all rings to count ${cards} cards` },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${seen}`);
  });
}

async function membersOf(redis: Redis, taskType: string): Promise<number> {
  const keys = await redis.keys(`polling:ring:${taskType}:*:*:*`);
  const sizes = await Promise.all(keys.map((key) => redis.scard(key)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

it('Sentinel promotes a replica that lacks ring members', async () => {
  const sentinel = await startRedisSentinel();
  closing.push(() => sentinel.stop());
  const fleet = await Fleet.start();
  closing.push(() => fleet.close());
  await fleet.startDaemon({ CARDPOLL_REDIS_URL: sentinel.url });
  await fleet.importCards(CARDS);
  await counted(fleet, CARDS);

  const replica = new Redis(sentinel.replica.url, { enableReadyCheck: false });
  replica.on('error', () => {});
  closing.push(() => replica.disconnect());
  await waitFor(async () => (await membersOf(replica, 'package')) === CARDS, {
    what: 'the replica to follow',
  });
  await waitFor(async () => (await replica.hget('polling:reconciliation', 'live_identity')) ?? null);
  // What a replica lacks that was promoted before it had read all of the master's stream.
  await replica.config('SET', 'replica-read-only', 'no');
  const buckets = (await replica.keys('polling:ring:package:*:*:*')).sort();
  await replica.unlink(...buckets.slice(0, buckets.length / 2));
  expect(await membersOf(replica, 'package')).toBeLessThan(CARDS);
  await sentinel.master.kill();

  await waitFor(async () => (await membersOf(replica, 'package')) === CARDS, {
    everyMs: 250,
    what: 'the lost members to be in their ring again',
  });
  await fleet.told('the schedule is compared with all cards', { reason: 'live_store_replaced' });
  await counted(fleet, CARDS);
});

it('PostgreSQL promotes a standby that lacks the last cards', async () => {
  const primary = await startPostgres();
  closing.push(() => primary.stop());
  const fleet = await Fleet.start({ postgres: primary });
  closing.push(() => fleet.close());
  await fleet.startDaemon();
  await fleet.importCards(CARDS);
  await counted(fleet, CARDS);
  await waitFor(async () => (await fleet.redis.hget('polling:reconciliation', 'record_identity')) || null);

  const standby = await standbyOf(primary);
  closing.push(() => standby.stop());
  await query(fleet.databaseUrl, `DELETE FROM cards WHERE card_id <= 100`);
  await counted(fleet, CARDS - 100);
  await primary.kill();
  await promote(standby);

  await counted(fleet, CARDS);
  await fleet.told('the schedule is compared with all cards', { reason: 'record_store_replaced' });
  expect(await membersOf(fleet.redis, 'carddata')).toBe(CARDS);
});

/** It answers at the address of the server it replaces, as behind a virtual address. */
async function promote(standby: PostgresServer): Promise<void> {
  await standby.start();
  await query(standby.url, 'SELECT pg_promote()');
}

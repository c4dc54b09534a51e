// Redis memory per scheduled card and task: the rings, against a sorted set of the same cards in the same run.
//
//   npm run bench:memory -- [--cards 1000000,10000000]
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { openRedisLiveStore } from '../../src/store/redis/live-store.ts';
import { startRedis } from '../support/redis-server.ts';
import { fillRing } from './ring-filling.ts';
import { printTable } from './table.ts';

const MEMBERS_PER_CALL = 2_000;

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: { cards: { type: 'string', default: '1000000,10000000' } },
  });
  const results: Array<{ cards: number; ring: number; sortedSet: number }> = [];
  for (const cards of values.cards.split(',').map(Number)) {
    const ring = await bytesPerCard(cards, async (url) => {
      const store = await openRedisLiveStore({ url });
      await fillRing(store, { configId: 1, taskType: 'realname' }, cards, 3_600_000);
      await store.close();
    });
    const sortedSet = await bytesPerCard(cards, (url) => fillSortedSet(url, cards));
    results.push({ cards, ring, sortedSet });
  }
  printTable(
    ['cards', 'ring, bytes a card', 'sorted set, bytes a card', 'ratio'],
    results.map(({ cards, ring, sortedSet }) => [
      cards.toLocaleString('en'),
      ring.toFixed(2),
      sortedSet.toFixed(1),
      (sortedSet / ring).toFixed(1),
    ]),
  );
  for (const { cards, ring, sortedSet } of results) {
    const line = {
      bench: 'memory',
      cards,
      bytes_per_card: Number(ring.toFixed(2)),
      sorted_set_bytes_per_card: Number(sortedSet.toFixed(2)),
      ratio: Number((sortedSet / ring).toFixed(2)),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

/** How much used_memory of an empty Redis grows by filling it. */
async function bytesPerCard(cards: number, fill: (url: string) => Promise<void>): Promise<number> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    const before = await usedMemory(redis);
    await fill(server.url);
    return ((await usedMemory(redis)) - before) / cards;
  } finally {
    redis.disconnect();
    await server.stop();
  }
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

async function fillSortedSet(url: string, cards: number): Promise<void> {
  const redis = new Redis(url);
  for (let from = 1; from <= cards; from += MEMBERS_PER_CALL) {
    const members: number[] = [];
    for (let id = from; id < Math.min(from + MEMBERS_PER_CALL, cards + 1); id += 1)
      members.push(Date.now() + id, id);
    await redis.zadd('scheduled', ...members);
  }
  redis.disconnect();
}

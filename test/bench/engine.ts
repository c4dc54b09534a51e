// Throughput of the live store's hot path through a real Redis, against BullMQ in the same run on the same server.
//
// Ours: one process advances a ring of N cards and takes every card through claim, release and settle in batches of
// 200; the work itself is nothing. BullMQ: one worker with concurrency 200 on jobs that do nothing, added beforehand.
// The sides take turns, each for a bounded time after a short warm-up, and the best round of each side counts: on a
// machine that does other things too, that is the least disturbed one.
//
//   npm run bench:engine -- [--cards 1000000,10000000] [--rounds 3] [--seconds 5] [--jobs 200000]

import { parseArgs } from 'node:util';
import { Queue, Worker } from 'bullmq';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import { openRedisLiveStore } from '../../src/store/redis/live-store.ts';
import { setLimit } from '../support/limits.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { fillRing } from './ring-filling.ts';
import { perSecond, printTable } from './table.ts';

const BATCH = 200;
const CLAIMERS = 4;
const WARM_UP_MS = 1_000;
/** The scheduler stops above this; far more than the claimers hold, far less than the ring. */
const QUEUE_CAP = 20_000;
const TYPE = 'realname';

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string', default: '1000000,10000000' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      jobs: { type: 'string', default: '200000' },
    },
  });
  const seconds = Number(values.seconds);
  const sizes = values.cards.split(',').map(Number);
  const best = new Map<number | 'bullmq', number>();
  const note = (side: number | 'bullmq', rate: number): void => {
    process.stderr.write(
      `${side === 'bullmq' ? 'BullMQ' : `cardpoll, ${side} cards`}: ${perSecond(rate)} a second\n`,
    );
    best.set(side, Math.max(rate, best.get(side) ?? 0));
  };
  for (let round = 0; round < Number(values.rounds); round += 1) {
    note('bullmq', await onFreshRedis((server) => measureBullmq(server, seconds, Number(values.jobs))));
    for (const cards of sizes) {
      note(cards, await onFreshRedis((server) => measureCardpoll(server, seconds, cards)));
    }
  }
  const bullmq = best.get('bullmq') ?? 0;
  const results = sizes.map((cards) => ({ cards, rate: best.get(cards) ?? 0 }));
  printTable(
    ['', 'per second', 'ratio'],
    [
      ['BullMQ, no-op jobs, concurrency 200', perSecond(bullmq), '1.0'],
      ...results.map(({ cards, rate }) => [
        `cardpoll, ${cards.toLocaleString('en')} cards scheduled`,
        perSecond(rate),
        (rate / bullmq).toFixed(1),
      ]),
    ],
  );
  for (const { cards, rate } of results) {
    const line = {
      bench: 'engine',
      cards,
      cards_per_second: Math.round(rate),
      bullmq_jobs_per_second: Math.round(bullmq),
      ratio: Number((rate / bullmq).toFixed(2)),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}

async function onFreshRedis<T>(measure: (server: RedisServer) => Promise<T>): Promise<T> {
  const server = await startRedis();
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

async function measureCardpoll(server: RedisServer, seconds: number, cards: number): Promise<number> {
  const store = await openRedisLiveStore({ url: server.url });
  const ring = { configId: 1, taskType: TYPE } as const;
  // Due four times as fast as anything could be polled, so that supply is never the limit.
  await fillRing(store, ring, cards, Math.ceil(cards / 400));
  await setLimit(store.work, TYPE, 2 * BATCH * CLAIMERS);
  let running = true;
  let settled = 0;
  const schedule = async (): Promise<void> => {
    const fence = (await store.coordination.lead('bench', 'bench', 600_000)) ?? 0;
    while (running) {
      const { queueLength } = await store.rings.advance(ring, { maxBuckets: 16, queueCap: QUEUE_CAP, fence });
      if (queueLength >= QUEUE_CAP)
        await waitFor(async () => !running || (await needsCards(store)), { everyMs: 5 });
    }
  };
  const poll = async (instanceId: string): Promise<void> => {
    for (let claimNumber = 1; running; claimNumber += 1) {
      const { items } = await store.work.claim(TYPE, {
        instanceId,
        claimNumber,
        max: BATCH,
        leaseMs: 30_000,
      });
      await store.work.release(TYPE, items);
      const settlements = items.map((item) => ({ item, verdict: 'done' as const, random: 0 }));
      await store.work.settle(TYPE, settlements, { baseMs: 1_000, capMs: 60_000 });
      settled += items.length;
    }
  };
  const work = [schedule(), ...Array.from({ length: CLAIMERS }, (_, i) => poll(`worker-${i}`))];
  const rate = await rateOf(() => settled, seconds);
  running = false;
  await Promise.all(work);
  await store.close();
  return rate;
}

async function needsCards(store: LiveStore): Promise<boolean> {
  return (await store.work.counts(TYPE)).queueLength < QUEUE_CAP / 2;
}

async function measureBullmq(server: RedisServer, seconds: number, jobs: number): Promise<number> {
  const connection = { host: '127.0.0.1', port: server.port };
  const queue = new Queue('bench', { connection });
  for (let from = 0; from < jobs; from += 5_000) {
    const bulk = Array.from({ length: Math.min(5_000, jobs - from) }, (_, i) => ({
      name: 'poll',
      data: { card_id: from + i },
      opts: { removeOnComplete: true },
    }));
    await queue.addBulk(bulk);
  }
  let done = 0;
  const worker = new Worker(
    'bench',
    async () => {
      done += 1;
    },
    { connection, concurrency: 200 },
  );
  const rate = await rateOf(() => done, seconds, jobs);
  await worker.close(true);
  await queue.close();
  return rate;
}

/** Counts a second after a warm-up, for at most `seconds` or until `end` is reached. */
async function rateOf(count: () => number, seconds: number, end = Number.POSITIVE_INFINITY): Promise<number> {
  const started = performance.now();
  await waitFor(() => performance.now() - started >= WARM_UP_MS);
  const [from, countFrom] = [performance.now(), count()];
  await waitFor(() => performance.now() - from >= seconds * 1_000 || count() >= end, {
    timeoutMs: seconds * 2_000,
  });
  return (count() - countFrom) / ((performance.now() - from) / 1_000);
}

// Cards imported into a daemon that started on an empty database, as every new user does: Redis' bytes a card and task
// and the largest bucket of all rings, sampled from the first card to the last.
//
//   npm run bench:grow -- [--cards 10000000] [--sample-seconds 10]
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { bucketsFrom } from '../../src/domain/schedule/phase.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import { redisKeys } from '../../src/store/redis/keys.ts';
import { openRedisLiveStore } from '../../src/store/redis/live-store.ts';
import { waitFor } from '../support/wait-for.ts';
import { Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

const CARDS_A_STATEMENT = 100_000;
/** realname, carddata and package: one ring each for every card. */
const RINGS_A_CARD = 3;
/** From here on the fixed cost of a Redis with nothing in it is small. */
const COUNTED_FROM = 1_000_000;
/** Nobody polls here, so what falls due would stay: a short queue keeps it out of the numbers. */
const QUEUE_CAP = '1000';
const NO_CARDS_SECONDS = 600;

interface Sample {
  readonly seconds: number;
  readonly members: number;
  readonly bytes: number;
  readonly largest: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string', default: '10000000' },
      'sample-seconds': { type: 'string', default: '10' },
    },
  });
  const cards = Number(values.cards);
  const stack = await Stack.start();
  const redis = new Redis(stack.redis.url);
  const live = await openRedisLiveStore({ url: stack.redis.url });
  try {
    await stack.insertCards(0);
    const daemon = await stack.startDaemon('http://127.0.0.1:9', {
      CARDPOLL_ROLES: 'scheduler,api',
      CARDPOLL_QUEUE_CAP: QUEUE_CAP,
    });
    await waitFor(async () => (await live.coordination.initProgress()).status === 'completed', {
      timeoutMs: 30_000,
      what: 'initialisation of the empty fleet',
    });
    const samples = await sampleUntilLoaded(
      stack,
      redis,
      live,
      cards,
      Number(values['sample-seconds']) * 1_000,
    );
    await daemon.stop();
    report(cards, samples);
  } finally {
    await live.close();
    redis.disconnect();
    await stack.stop();
  }
}

async function sampleUntilLoaded(
  stack: Stack,
  redis: Redis,
  live: LiveStore,
  cards: number,
  everyMs: number,
): Promise<Sample[]> {
  const before = await usedMemory(redis);
  const started = performance.now();
  const samples: Sample[] = [];
  const importing = importCards(stack, cards);
  for (;;) {
    const due = started + (samples.length + 1) * everyMs;
    await waitFor(() => performance.now() >= due, {
      timeoutMs: 2 * everyMs,
      everyMs: 100,
      what: 'the next sample',
    });
    const rings = await live.rings.list();
    const sample = {
      seconds: (performance.now() - started) / 1_000,
      members: rings.reduce((sum, ring) => sum + ring.members, 0),
      bytes: (await usedMemory(redis)) - before,
      largest: await largestBucket(redis, live),
    };
    samples.push(sample);
    process.stderr.write(`${JSON.stringify(sample)}\n`);
    if (sample.members === RINGS_A_CARD * cards) break;
    if (sample.seconds > NO_CARDS_SECONDS + cards / 2_000)
      throw new Error('the cards do not get into the rings');
  }
  await importing;
  return samples;
}

async function importCards(stack: Stack, cards: number): Promise<void> {
  for (let from = 1; from <= cards; from += CARDS_A_STATEMENT) {
    await stack.sql(
      `INSERT INTO cards (card_id, iccid, carrier_id, status, real_name_verified)
       SELECT id, '8986' || lpad(id::text, 16, '0'), 1, 1, false
       FROM generate_series(${from}, ${Math.min(cards, from + CARDS_A_STATEMENT - 1)}) AS id`,
    );
  }
}

async function largestBucket(redis: Redis, live: LiveStore): Promise<number> {
  const keys = redisKeys(false);
  let largest = 0;
  for (const ring of await live.rings.list()) {
    for (const build of [ring, ...(ring.building === null ? [] : [ring.building])]) {
      if (build.generation === 0) continue;
      const pipeline = redis.pipeline();
      for (const { number } of bucketsFrom(build, 0))
        pipeline.scard(keys.bucket(ring, build.generation, number));
      const sizes = ((await pipeline.exec()) ?? []).map(([, size]) => Number(size));
      largest = sizes.reduce((most, size) => Math.max(most, size), largest);
    }
  }
  return largest;
}

function report(cards: number, samples: readonly Sample[]): void {
  const counted = samples.filter(({ members }) => members >= RINGS_A_CARD * Math.min(cards, COUNTED_FROM));
  const bytesOf = ({ bytes, members }: Sample) => bytes / members;
  const peak = Math.max(...counted.map(bytesOf));
  const largest = Math.max(...samples.map((sample) => sample.largest));
  const last = samples.at(-1) as Sample;
  printTable(
    ['seconds', 'cards', 'Redis, MB', 'bytes a card and task', 'largest bucket'],
    samples.map((sample) => [
      sample.seconds.toFixed(0),
      perSecond(sample.members / RINGS_A_CARD),
      (sample.bytes / 1e6).toFixed(0),
      sample.members === 0 ? '-' : bytesOf(sample).toFixed(2),
      String(sample.largest),
    ]),
  );
  const line = {
    bench: 'grow',
    cards,
    seconds: Math.round(last.seconds),
    peak_bytes_per_card: Number(peak.toFixed(2)),
    last_bytes_per_card: Number(bytesOf(last).toFixed(2)),
    largest_bucket: largest,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

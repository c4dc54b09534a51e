// Polls a second of the whole product (daemon, real Redis, real PostgreSQL, simulated gateway, logs on, 20 % of the
// readings changed), against a bare undici loop on the same simulator in the same run. The sides take turns; the best
// round of each side counts.
//
//   npm run bench:end-to-end -- [--cards 10000] [--rounds 3] [--seconds 10] [--limit 128]
//   npm run bench:end-to-end -- --instances 3 [--redis cluster]: three instances, of which two only poll; what they take together
//   npm run bench:end-to-end -- --batch 100 [--cards 30000] [--latency-ms 20]: calls for 100 cards, beside calls for one, at a gateway
//     that takes both
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { elapsed, waitFor } from '../support/wait-for.ts';
import { scheduleAll } from './all-scheduled.ts';
import { bareLoop } from './bare-loop.ts';
import { profileFor, startBatchGateway } from './batch-gateway.ts';
import { cpuSeconds, getJson, Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

/** Where the bare loop is at its best: more only costs it. */
const BARE_CONCURRENCY = 192;
/** The shortest there is: more comes due than can be polled, so that supply is never the limit. */
const INTERVAL_SECONDS = 1;
/** So that batches have about four times as much to do as can be done, too. */
const CARDS_OF_BATCHES = 30_000;
/** Polls of each card before it counts: the steady state is measured, not the first readings. */
const WARM_UP_POLLS = 2;
/** The highest concurrency limit there is. */
const MAX_LIMIT = 100_000;

interface Options {
  readonly cards: number;
  readonly seconds: number;
  /** max_concurrency of each task type. */
  readonly limit: number;
  readonly instances: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '10' },
      limit: { type: 'string', default: '128' },
      batch: { type: 'string', default: '0' },
      instances: { type: 'string', default: '1' },
      redis: { type: 'string', default: 'standalone' },
      'latency-ms': { type: 'string', default: '20' },
    },
  });
  const options = {
    cards: Number(values.cards ?? (values.batch === '0' ? 10_000 : CARDS_OF_BATCHES)),
    seconds: Number(values.seconds),
    limit: Number(values.limit),
    instances: Number(values.instances),
  };
  if (values.batch !== '0') {
    await compareBatches(options, Number(values.batch), Number(values.rounds), Number(values['latency-ms']));
    return;
  }
  let bare = 0;
  let product: Measured = { rate: 0, callRate: 0, cpuMicros: {} };
  const stack = await Stack.start(values.redis === 'cluster' ? 'cluster' : 'standalone');
  try {
    await stack.insertCards(options.cards);
    for (let round = 0; round < Number(values.rounds); round += 1) {
      bare = Math.max(bare, await measureBareLoop(stack, options));
      const measured = await measureProduct(stack, options);
      if (measured.rate > product.rate) product = measured;
      process.stderr.write(
        `so far: bare loop ${perSecond(bare)}, cardpoll ${perSecond(product.rate)} a second\n`,
      );
    }
  } finally {
    await stack.stop();
  }
  const ratio = product.rate / bare;
  printTable(
    ['', 'calls a second', 'ratio'],
    [
      ['bare undici loop', perSecond(bare), '1.00'],
      ['cardpoll, end to end', perSecond(product.rate), ratio.toFixed(2)],
    ],
  );
  printTable(
    ['CPU time', 'microseconds a poll'],
    Object.entries(product.cpuMicros).map(([name, micros]) => [name, micros.toFixed(0)]),
  );
  const line = {
    bench: 'end-to-end',
    cards: options.cards,
    polls_per_second: Math.round(product.rate),
    bare_calls_per_second: Math.round(bare),
    ratio: Number(ratio.toFixed(3)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** The limit counts cards: with batches it is as many times as high, so that as many calls are in flight. */
async function compareBatches(
  options: Options,
  size: number,
  rounds: number,
  latencyMs: number,
): Promise<void> {
  const best = new Map<number, Measured>();
  const stack = await Stack.start();
  const gateway = await startBatchGateway(latencyMs);
  const counts = async () => gateway.counts();
  try {
    await stack.insertCards(options.cards);
    for (let round = 0; round < rounds; round += 1) {
      for (const cardsPerCall of [1, size]) {
        const profile = join(stack.dir, `profile-${cardsPerCall}.yaml`);
        writeFileSync(profile, profileFor(cardsPerCall));
        const env = { CARDPOLL_GATEWAY_PROFILE: profile };
        const limit = Math.min(MAX_LIMIT, options.limit * cardsPerCall);
        const measured = await measurePolls(
          stack,
          { ...options, limit },
          { url: gateway.url, counts, env, pids: {} },
        );
        if (measured.rate > (best.get(cardsPerCall)?.rate ?? 0)) best.set(cardsPerCall, measured);
      }
    }
  } finally {
    await gateway.close();
    await stack.stop();
  }
  const one = best.get(1)?.rate ?? 0;
  const rows = [...best].map(([cardsPerCall, { rate, callRate, cpuMicros }]) => [
    String(cardsPerCall),
    perSecond(rate),
    perSecond(callRate),
    (rate / one).toFixed(2),
    ...['daemon', 'redis', 'postgres'].map((name) => cpuMicros[name]?.toFixed(0) ?? ''),
  ]);
  const cpu = ['daemon', 'Redis', 'PostgreSQL'].map((name) => `${name}, microseconds a card`);
  printTable(['cards a call', 'cards a second', 'calls a second', 'ratio', ...cpu], rows);
  const ratio = (best.get(size)?.rate ?? 0) / one;
  process.stdout.write(
    `${JSON.stringify({ bench: 'end-to-end', batch: size, ratio: Number(ratio.toFixed(2)) })}\n`,
  );
}

interface Measured {
  /** Cards a second. */
  readonly rate: number;
  readonly callRate: number;
  /** By process, a poll. */
  readonly cpuMicros: Readonly<Record<string, number>>;
}

async function measureBareLoop(stack: Stack, { seconds }: Options): Promise<number> {
  const simulator = await stack.startSimulator();
  const rate = await bareLoop({
    url: simulator.url,
    seconds,
    concurrency: BARE_CONCURRENCY,
  });
  await simulator.stop();
  return rate;
}

async function measureProduct(stack: Stack, options: Options): Promise<Measured> {
  const simulator = await stack.startSimulator();
  const counts = async () => {
    const { requests } = await getJson<{ requests: number }>(`${simulator.url}/stats`);
    return { calls: requests, cards: requests };
  };
  const measured = await measurePolls(stack, options, {
    url: simulator.url,
    counts,
    env: {},
    pids: { simulator: [simulator.pid] },
  });
  await simulator.stop();
  return measured;
}

interface MeasuredGateway {
  readonly url: string;
  readonly counts: () => Promise<{ readonly calls: number; readonly cards: number }>;
  /** Of the daemon. */
  readonly env: Readonly<Record<string, string>>;
  readonly pids: Readonly<Record<string, readonly number[]>>;
}

async function measurePolls(
  stack: Stack,
  { cards, seconds, limit, instances }: Options,
  gateway: MeasuredGateway,
): Promise<Measured> {
  // A short queue: what is scheduled and what is polled are then the same number of cards.
  const env = { CARDPOLL_QUEUE_CAP: '20000', ...gateway.env };
  const daemon = await stack.startInstances(instances, gateway.url, env);
  await scheduleAll(daemon.url, { cards, limit, intervalSeconds: INTERVAL_SECONDS });
  const warmUp = (await gateway.counts()).cards + WARM_UP_POLLS * cards * TASK_TYPES.length;
  await waitFor(async () => (await gateway.counts()).cards >= warmUp, {
    timeoutMs: 180_000,
    what: 'the first readings',
  });
  const pids = {
    daemon: daemon.pids,
    ...gateway.pids,
    ...stack.redisPids,
    postgres: [stack.postgres.pid],
  };
  const cpu = () =>
    Object.entries(pids).map(
      ([name, all]) => [name, all.reduce((sum, pid) => sum + cpuSeconds(pid), 0)] as const,
    );
  const [from, before, cpuFrom] = [performance.now(), await gateway.counts(), new Map(cpu())];
  await elapsed(seconds * 1_000);
  const after = await gateway.counts();
  const perSecondOf = (count: number) => count / ((performance.now() - from) / 1_000);
  const polls = after.cards - before.cards;
  const cpuMicros = cpu().map(([name, used]) => [name, ((used - (cpuFrom.get(name) ?? 0)) / polls) * 1e6]);
  const measured = {
    rate: perSecondOf(polls),
    callRate: perSecondOf(after.calls - before.calls),
    cpuMicros: Object.fromEntries(cpuMicros),
  };
  await daemon.stop();
  return measured;
}

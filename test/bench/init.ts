// Progressive initialisation of a large fleet by the real daemon: seconds a batch of 100,000 cards (reading them from
// PostgreSQL and adding each to three rings in Redis) without the mandated pauses, and the daemon's peak memory;
// against a bare SADD pipeline of as many members in the same run.
//
//   npm run bench:init -- [--cards 10000000]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { INITIALISING } from '../../src/domain/log-phrases.ts';
import { startRedis } from '../support/redis-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { getJson, Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

const BATCH = 100_000;
const PAUSE_SECONDS = 1;
/** realname, carddata and package: one ring each for every card. */
const RINGS_A_CARD = 3;

interface Progress {
  readonly time: string;
  readonly msg: string;
  readonly loaded: number;
  readonly status: string;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({ args: argv, options: { cards: { type: 'string', default: '10000000' } } });
  const cards = Number(values.cards);
  const bare = await bareSadd();
  const stack = await Stack.start();
  try {
    process.stderr.write(`inserting ${cards} cards into PostgreSQL\n`);
    await stack.insertCards(cards);
    // No worker: what polling costs is bench:end-to-end's question. Nothing calls the gateway.
    const daemon = await stack.startDaemon('http://127.0.0.1:9', { CARDPOLL_ROLES: 'scheduler,api' });
    await waitFor(async () => (await progress(daemon.url)).status === 'completed', {
      timeoutMs: (cards / BATCH) * 30_000 + 60_000,
      everyMs: 500,
      what: 'initialisation',
    });
    const peakMb = peakMemoryMb(daemon.pid);
    await daemon.stop();
    report(cards, batchSeconds(join(stack.logDir, 'worker.log')), peakMb, bare);
  } finally {
    await stack.stop();
  }
}

function report(cards: number, batches: readonly number[], peakMb: number, bare: number): void {
  const sorted = [...batches].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const total = batches.reduce((sum, seconds) => sum + seconds + PAUSE_SECONDS, 0);
  const rate = (BATCH * RINGS_A_CARD) / median;
  printTable(
    ['', 'value'],
    [
      ['cards', cards.toLocaleString('en')],
      ['seconds a batch, median', median.toFixed(2)],
      ['seconds a batch, slowest', (sorted.at(-1) ?? 0).toFixed(2)],
      ['seconds in all, pauses included', total.toFixed(0)],
      ['peak memory of the daemon, MB', peakMb.toFixed(0)],
      ['memberships a second', perSecond(rate)],
      ['bare SADD pipeline, members a second', perSecond(bare)],
    ],
  );
  const line = {
    bench: 'init',
    cards,
    batch_seconds_median: Number(median.toFixed(3)),
    total_seconds: Math.round(total),
    peak_memory_mb: Math.round(peakMb),
    ratio: Number((rate / bare).toFixed(2)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** One SADD a member, pipelined, into sets of the size of a ring's buckets. */
async function bareSadd(): Promise<number> {
  const members = 300_000;
  const server = await startRedis();
  const redis = new Redis(server.url);
  const started = performance.now();
  for (let from = 0; from < members; from += 10_000) {
    const pipeline = redis.pipeline();
    for (let id = from; id < from + 10_000; id += 1) pipeline.sadd(`bare:${id % 2_000}`, id);
    await pipeline.exec();
  }
  const seconds = (performance.now() - started) / 1_000;
  redis.disconnect();
  await server.stop();
  return members / seconds;
}

/** Seconds from the end of one pause to the end of the batch, by the daemon's own log. */
function batchSeconds(logFile: string): number[] {
  const lines = readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes(INITIALISING))
    .map((line) => JSON.parse(line) as Progress);
  return lines.slice(1).flatMap((line, i) => {
    const before = lines[i];
    if (before === undefined || line.loaded === before.loaded) return [];
    const pause = before.loaded === 0 ? 0 : PAUSE_SECONDS;
    return [(Date.parse(line.time) - Date.parse(before.time)) / 1_000 - pause];
  });
}

function peakMemoryMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

async function progress(url: string): Promise<{ status: string }> {
  return getJson(`${url}/api/admin/polling-stats/init-progress`);
}

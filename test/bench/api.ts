// Requests a second and latency of GET /api/admin/polling-concurrency against a daemon that polls at full speed, against the
// same daemon while it idles (its configs disabled), in the same run. The sides take turns; the best round of each counts.
//
// Then polls a second while 20 connections send expensive requests (api/pressure.ts).
//
//   npm run bench:api -- [--cards 100000] [--rounds 2] [--seconds 8] [--connections 8] [--limit 64] [--pressing 20]
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { waitFor } from '../support/wait-for.ts';
import { CONFIG_IDS, scheduleAll } from './all-scheduled.ts';
import { measurePressure } from './api/pressure.ts';
import { getJson, putJson, Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

const PATH = '/api/admin/polling-concurrency';
/** All cards are due again this soon: polling never runs out of work. */
const INTERVAL_SECONDS = 2;
const WARM_UP_MS = 2_000;

interface Load {
  readonly seconds: number;
  readonly connections: number;
}

interface Measured {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Calls the gateway saw meanwhile. */
  readonly pollsPerSecond: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '2' },
      seconds: { type: 'string', default: '8' },
      connections: { type: 'string', default: '8' },
      limit: { type: 'string', default: '64' },
      pressing: { type: 'string', default: '20' },
    },
  });
  const load = { seconds: Number(values.seconds), connections: Number(values.connections) };
  let idle: Measured | null = null;
  let polling: Measured | null = null;
  const stack = await Stack.start();
  try {
    await stack.insertCards(Number(values.cards));
    const simulator = await stack.startSimulator();
    const daemon = await stack.startDaemon(simulator.url, { CARDPOLL_API_RATE_LIMIT_PER_MINUTE: '0' });
    const [cards, limit] = [Number(values.cards), Number(values.limit)];
    await scheduleAll(daemon.url, { cards, limit, intervalSeconds: INTERVAL_SECONDS });
    for (let round = 0; round < Number(values.rounds); round += 1) {
      await setPolling(daemon.url, false);
      idle = better(idle, await measure(daemon.url, simulator.url, load));
      await setPolling(daemon.url, true);
      polling = better(polling, await measure(daemon.url, simulator.url, load));
    }
    await setPolling(daemon.url, true);
    await measurePressure({
      daemonUrl: daemon.url,
      simulatorUrl: simulator.url,
      seconds: load.seconds,
      connections: Number(values.pressing),
    });
    await daemon.stop();
    await simulator.stop();
  } finally {
    await stack.stop();
  }
  if (idle !== null && polling !== null) report(idle, polling, load.connections);
}

/** Switches every config and waits until polling has followed. */
async function setPolling(daemonUrl: string, on: boolean): Promise<void> {
  for (const id of CONFIG_IDS)
    await putJson(`${daemonUrl}/api/admin/polling-configs/${id}`, { status: on ? 1 : 0 });
  await waitFor(
    async () => {
      const { items } = await getJson<{ items: Array<{ in_flight: number; queue_length: number }> }>(
        `${daemonUrl}/api/admin/polling-stats/queues`,
      );
      return items.every((item) => (on ? item.in_flight > 0 : item.queue_length === 0));
    },
    { timeoutMs: 120_000, everyMs: 100, what: on ? 'polling' : 'the queues to run empty' },
  );
}

async function measure(daemonUrl: string, simulatorUrl: string, load: Load): Promise<Measured> {
  await hammer(daemonUrl, { ...load, seconds: WARM_UP_MS / 1_000 });
  const [from, callsFrom] = [performance.now(), await calls(simulatorUrl)];
  const durationsMs = await hammer(daemonUrl, load);
  const seconds = (performance.now() - from) / 1_000;
  const pollsPerSecond = ((await calls(simulatorUrl)) - callsFrom) / seconds;
  durationsMs.sort((a, b) => a - b);
  return {
    requestsPerSecond: durationsMs.length / seconds,
    p50Ms: quantile(durationsMs, 0.5),
    p99Ms: quantile(durationsMs, 0.99),
    pollsPerSecond,
  };
}

/** Keeps every connection busy for the time. @returns milliseconds of each request. */
async function hammer(url: string, { seconds, connections }: Load): Promise<number[]> {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const until = performance.now() + seconds * 1_000;
  const durationsMs: number[] = [];
  const one = async () => {
    while (performance.now() < until) {
      const startedMs = performance.now();
      const answer = await pool.request({ path: PATH, method: 'GET' });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${PATH}: ${answer.statusCode} ${text}`);
      durationsMs.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  await pool.close();
  return durationsMs;
}

async function calls(simulatorUrl: string): Promise<number> {
  return (await getJson<{ requests: number }>(`${simulatorUrl}/stats`)).requests;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function better(best: Measured | null, one: Measured): Measured {
  return best === null || one.requestsPerSecond > best.requestsPerSecond ? one : best;
}

function report(idle: Measured, polling: Measured, connections: number): void {
  const ratio = polling.requestsPerSecond / idle.requestsPerSecond;
  const row = (name: string, side: Measured, share: number) => [
    name,
    perSecond(side.requestsPerSecond),
    side.p50Ms.toFixed(1),
    side.p99Ms.toFixed(1),
    perSecond(side.pollsPerSecond),
    share.toFixed(2),
  ];
  printTable(
    [`GET ${PATH}, ${connections} connections`, 'requests/s', 'p50 ms', 'p99 ms', 'polls/s', 'ratio'],
    [row('idle', idle, 1), row('polling at full speed', polling, ratio)],
  );
  const line = {
    bench: 'api',
    requests_per_second: Math.round(polling.requestsPerSecond),
    p99_ms: Number(polling.p99Ms.toFixed(2)),
    polls_per_second: Math.round(polling.pollsPerSecond),
    idle_requests_per_second: Math.round(idle.requestsPerSecond),
    idle_p99_ms: Number(idle.p99Ms.toFixed(2)),
    ratio: Number(ratio.toFixed(3)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

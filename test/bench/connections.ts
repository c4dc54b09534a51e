// What idle and slow connections cost those who work: p99 and memory of a daemon that answers a steady rate of requests,
// alone and beside them, in the same run. Then SIGTERM while all that goes on: what becomes of the requests under way.
//
//   npm run bench:connections -- [--idle 2000] [--slow 200] [--rate 50] [--seconds 20]
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { IMPORT_PATH, postHead, RawClient } from '../support/raw-client.ts';
import { type RunningBinary, Stack } from './stack.ts';
import { printTable } from './table.ts';

const PATH = '/api/admin/polling-stats';
const TRICKLE_MS = 2_000;
/** Connections opened at a time, fewer than a listening socket keeps waiting. */
const OPENED_TOGETHER = 100;

interface Load {
  readonly rate: number;
  readonly seconds: number;
}

interface Measured {
  readonly answered: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rssMib: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      idle: { type: 'string', default: '2000' },
      slow: { type: 'string', default: '200' },
      rate: { type: 'string', default: '50' },
      seconds: { type: 'string', default: '20' },
    },
  });
  const load = { rate: Number(values.rate), seconds: Number(values.seconds) };
  const stack = await Stack.start();
  try {
    await stack.insertCards(1_000);
    const simulator = await stack.startSimulator();
    const daemon = await stack.startDaemon(simulator.url, {
      CARDPOLL_API_RATE_LIMIT_PER_MINUTE: '0',
      CARDPOLL_API_BODY_TIMEOUT_MS: '600000',
      CARDPOLL_API_IDLE_TIMEOUT_MS: '600000',
    });
    await measure(daemon, { ...load, seconds: 2 });
    const alone = await measure(daemon, load);
    await openIdle(daemon, Number(values.idle));
    await openSlow(daemon, Number(values.slow));
    const beside = await measure(daemon, load);
    const end = await stopUnderLoad(daemon, load);
    report(alone, beside, end, `${values.idle} idle, ${values.slow} slow`);
    await simulator.stop();
  } finally {
    await stack.stop();
  }
}

async function openIdle(daemon: RunningBinary, count: number): Promise<void> {
  const clients = await openAll(daemon, count, 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
  while (!clients.every(({ received }) => received !== '')) await sleep(50);
}

async function openSlow(daemon: RunningBinary, count: number): Promise<void> {
  const clients = await openAll(daemon, count, postHead(IMPORT_PATH, 'text/csv', 1_000_000));
  for (const client of clients) void client.trickle(TRICKLE_MS, () => '\n');
}

async function openAll(daemon: RunningBinary, count: number, text: string): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  while (clients.length < count) {
    const more = Math.min(OPENED_TOGETHER, count - clients.length);
    const opened = Array.from({ length: more }, () => RawClient.to(new URL(daemon.url).host, text));
    clients.push(...(await Promise.all(opened)));
  }
  return clients;
}

/** Sends at the rate whatever the answers do: a slow server is not asked less. */
async function measure(daemon: RunningBinary, { rate, seconds }: Load): Promise<Measured> {
  const durationsMs: number[] = [];
  let failed = 0;
  const one = async () => {
    const startedMs = performance.now();
    try {
      const answer = await request(daemon.url + PATH);
      await answer.body.dump();
      if (answer.statusCode !== 200) failed += 1;
      durationsMs.push(performance.now() - startedMs);
    } catch {
      failed += 1;
    }
  };
  const running: Promise<void>[] = [];
  for (let sent = 0; sent < rate * seconds; sent += 1) {
    running.push(one());
    await sleep(1_000 / rate);
  }
  await Promise.all(running);
  durationsMs.sort((a, b) => a - b);
  const quantile = (share: number) => durationsMs[Math.floor((durationsMs.length - 1) * share)] ?? 0;
  return {
    answered: durationsMs.length,
    failed,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    rssMib: rssMib(daemon.pid),
  };
}

function rssMib(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1_024);
}

interface End {
  readonly seconds: number;
  readonly answered: number;
  /** Sent, begun to be answered, and cut: there should be none. */
  readonly cut: number;
}

/** Each request on a connection of its own, so that what was refused is told from what was cut. */
async function stopUnderLoad(daemon: RunningBinary, { rate }: Load): Promise<End> {
  const { host } = new URL(daemon.url);
  const text = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  const clients: RawClient[] = [];
  let ended = false;
  const stopping = sleep(500).then(async () => {
    const startedMs = performance.now();
    await daemon.stop();
    ended = true;
    return (performance.now() - startedMs) / 1_000;
  });
  while (!ended) {
    const client = await RawClient.to(host, text).catch(() => null);
    if (client !== null) clients.push(client);
    await sleep(1_000 / rate);
  }
  const seconds = await stopping;
  const whole = clients.filter(({ received }) => received.endsWith('}'));
  return {
    seconds,
    answered: whole.length,
    cut: clients.filter(({ received }) => received !== '' && !received.endsWith('}')).length,
  };
}

function report(alone: Measured, beside: Measured, end: End, others: string): void {
  const row = (name: string, { answered, failed, p50Ms, p99Ms, rssMib: rss }: Measured) =>
    [name, answered, failed, p50Ms.toFixed(1), p99Ms.toFixed(1), rss].map(String);
  printTable(
    [`GET ${PATH}`, 'answered', 'failed', 'p50 ms', 'p99 ms', 'RSS MiB'],
    [row('alone', alone), row(`beside ${others}`, beside)],
  );
  const line = {
    bench: 'connections',
    p99_ms: Number(beside.p99Ms.toFixed(2)),
    alone_p99_ms: Number(alone.p99Ms.toFixed(2)),
    rss_mib: beside.rssMib,
    alone_rss_mib: alone.rssMib,
    failed: beside.failed,
    stop_seconds: Number(end.seconds.toFixed(2)),
    stop_answered: end.answered,
    stop_cut: end.cut,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

// Manual triggers on the whole product (daemon, real Redis, real PostgreSQL), the schedule switched off: how long a
// single card takes from the request to the gateway, and what a trigger of a whole fleet costs: time to its 202, memory
// of the daemon and length of the manual list while it is worked off, time until a cancel has emptied the list.
//
//   npm run bench:triggers -- [--cards 1000000] [--singles 300] [--seconds 30] [--limit 200]
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { waitFor } from '../support/wait-for.ts';
import { getJson, putJson, type RunningBinary, Stack } from './stack.ts';
import { printTable } from './table.ts';

const TASK = 'realname';
const LIST = `polling:manual:${TASK}`;

interface TriggerBody {
  readonly trigger_id: string;
  readonly total: number;
  readonly waiting: number;
  readonly succeeded: number;
  readonly failed: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string', default: '1000000' },
      singles: { type: 'string', default: '300' },
      seconds: { type: 'string', default: '30' },
      limit: { type: 'string', default: '200' },
    },
  });
  const stack = await Stack.start();
  try {
    await stack.insertCards(Number(values.cards));
    const latency = await measureSingles(stack, Number(values.singles));
    const fleet = await measureFleet(
      stack,
      Number(values.cards),
      Number(values.seconds),
      Number(values.limit),
    );
    const line = { bench: 'triggers', cards: Number(values.cards), ...latency, ...fleet };
    printTable(
      ['', ''],
      Object.entries(line).map(([name, value]) => [name, String(value)]),
    );
    process.stdout.write(`${JSON.stringify(line)}\n`);
  } finally {
    await stack.stop();
  }
}

async function startQuietDaemon(stack: Stack, gatewayUrl: string, limit: number): Promise<RunningBinary> {
  const daemon = await stack.startDaemon(gatewayUrl);
  for (const id of [1, 2, 3, 4])
    await putJson(`${daemon.url}/api/admin/polling-configs/${id}`, { status: 0 });
  await putJson(`${daemon.url}/api/admin/polling-concurrency/${TASK}`, { max_concurrency: limit });
  await waitFor(
    async () =>
      (await getJson<{ status: string }>(`${daemon.url}/api/admin/polling-stats/init-progress`)).status ===
      'completed',
    { timeoutMs: 120_000, everyMs: 200, what: 'initialisation' },
  );
  return daemon;
}

/** Milliseconds from sending the request to the call's arrival at a gateway in this process. */
async function measureSingles(stack: Stack, singles: number) {
  const arrivals = new Map<string, number>();
  const gateway = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      arrivals.set((JSON.parse(body) as { iccid: string }).iccid, performance.now());
      response.setHeader('content-type', 'application/json');
      response.end('{"code":200,"msg":"ok","data":{"realStatus":false}}');
    });
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const daemon = await startQuietDaemon(
    stack,
    `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    100,
  );
  const tookMs: number[] = [];
  for (let cardId = 1; cardId <= singles; cardId += 1) {
    const iccid = `8986${String(cardId).padStart(16, '0')}`;
    const askedAt = performance.now();
    await post(daemon, 'single', { card_id: cardId, task_type: TASK });
    tookMs.push((await waitFor(() => arrivals.get(iccid), { everyMs: 1, what: 'the call' })) - askedAt);
  }
  await daemon.stop();
  gateway.closeAllConnections();
  gateway.close();
  tookMs.sort((a, b) => a - b);
  const quantile = (q: number) => Number((tookMs[Math.ceil(q * tookMs.length) - 1] ?? 0).toFixed(1));
  return { single_p50_ms: quantile(0.5), single_p99_ms: quantile(0.99), single_max_ms: quantile(1) };
}

async function measureFleet(stack: Stack, cards: number, seconds: number, limit: number) {
  const simulator = await stack.startSimulator();
  const daemon = await startQuietDaemon(stack, simulator.url, limit);
  const redis = new Redis(stack.redis.url);
  const askedAt = performance.now();
  const trigger = await post(daemon, 'by-condition', { task_type: TASK });
  const acceptedMs = performance.now() - askedAt;
  if (trigger.total !== cards) throw new Error(`${trigger.total} cards were selected instead of ${cards}`);
  let longest = 0;
  await waitFor(
    async () => {
      longest = Math.max(longest, await redis.llen(LIST));
      return performance.now() - askedAt > seconds * 1_000;
    },
    { timeoutMs: seconds * 1_000 + 10_000, everyMs: 50 },
  );
  const show = () =>
    getJson<TriggerBody>(`${daemon.url}/api/admin/polling-manual-trigger/${trigger.trigger_id}`);
  const { succeeded, failed } = await show();
  const redisMb = Number(/^used_memory_peak:(\d+)/m.exec(await redis.info('memory'))?.[1]) / 2 ** 20;
  const cancelledAt = performance.now();
  await post(daemon, 'cancel', { trigger_id: trigger.trigger_id });
  await waitFor(async () => (await redis.llen(LIST)) === 0 && (await show()).waiting === 0, {
    everyMs: 2,
    what: 'an empty list',
  });
  const cancelMs = performance.now() - cancelledAt;
  const rssPeakMb =
    Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1_024;
  redis.disconnect();
  await daemon.stop();
  await simulator.stop();
  return {
    accepted_ms: Math.round(acceptedMs),
    polls_per_second: Math.round((succeeded + failed) / seconds),
    rss_peak_mb: Math.round(rssPeakMb),
    redis_peak_mb: Math.round(redisMb),
    longest_list: longest,
    cancel_ms: Math.round(cancelMs),
  };
}

async function post(daemon: RunningBinary, what: string, body: unknown): Promise<TriggerBody> {
  const response = await fetch(`${daemon.url}/api/admin/polling-manual-trigger/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`);
  return (await response.json()) as TriggerBody;
}

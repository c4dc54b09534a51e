// The peer of bench:end-to-end: the fastest ordinary thing one can do with the gateway. A plain undici loop asks for
// one card after the other and parses the answer; no schedule, no stores, no logs, no deadlines.
//
// Called through measureBareLoop(), which runs it as a process of its own, as the daemon is one; alone:
//   node test/bench/run.js bare-loop --url http://127.0.0.1:8090 [--seconds 5] [--connections 100] [--cards 100000]
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { Pool } from 'undici';
import { demoIccid } from '../../src/gateway/demo-fleet.ts';

const WARM_UP_MS = 1_000;

export interface BareLoopOptions {
  /** A gateway with the default profile. */
  readonly url: string;
  readonly seconds: number;
  /** Calls in flight. */
  readonly connections: number;
  /** Asks for demo cards 1 to this one, over and over. */
  readonly cards: number;
}

export interface BareLoopResult {
  readonly requestsPerSecond: number;
  /** Processor time of the loop's own process for one request, in microseconds. */
  readonly cpuMicrosPerRequest: number;
}

/** Runs the loop in a process of its own. To be called from a benchmark that test/bench/run.js runs. */
export async function measureBareLoop(options: BareLoopOptions): Promise<BareLoopResult> {
  const [, runner = ''] = process.argv;
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { stdout } = await promisify(execFile)(process.execPath, [runner, 'bare-loop', ...args]);
  const line = JSON.parse(stdout) as { requests_per_second: number; cpu_micros_per_request: number };
  return { requestsPerSecond: line.requests_per_second, cpuMicrosPerRequest: line.cpu_micros_per_request };
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      url: { type: 'string' },
      seconds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '100' },
      cards: { type: 'string', default: '100000' },
    },
  });
  if (values.url === undefined) throw new Error('--url is missing');
  const connections = Number(values.connections);
  const pool = new Pool(values.url, { connections, pipelining: 1 });
  const ask = asker(pool, Number(values.cards));
  await loop(ask, connections, WARM_UP_MS);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const requests = await loop(ask, connections, Number(values.seconds) * 1000);
  const tookMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  await pool.close();
  const line = {
    bench: 'bare-loop',
    requests_per_second: Math.round((requests / tookMs) * 1000),
    cpu_micros_per_request: Number(((cpu.user + cpu.system) / requests).toFixed(1)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function asker(pool: Pool, cards: number): () => Promise<void> {
  let cardId = 0;
  return async () => {
    cardId = (cardId % cards) + 1;
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/card/flow',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ iccid: demoIccid(cardId) }),
    });
    const answer = (await body.json()) as { code: number };
    if (statusCode !== 200 || answer.code !== 200) throw new Error(`HTTP ${statusCode}, code ${answer.code}`);
  };
}

/** Keeps `concurrency` calls in flight for `ms`. @returns the calls made. */
async function loop(ask: () => Promise<void>, concurrency: number, ms: number): Promise<number> {
  const until = performance.now() + ms;
  let requests = 0;
  const one = async () => {
    while (performance.now() < until) {
      await ask();
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return requests;
}

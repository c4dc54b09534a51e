// The peer of bench:end-to-end: the plainest fast thing one can do with the gateway. An undici loop asks for one card
// after the other and parses the answer; no schedule, no stores, no logs, no deadlines.
//
// Called through bareLoop(), which runs it as a process of its own, as the daemon is one; alone:
//   node test/bench/run.js bare-loop --url http://127.0.0.1:8090 [--seconds 5] [--concurrency 100]
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { Pool } from 'undici';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';

const WARM_UP_MS = 1_000;
const CARDS = 10_000;

export interface BareLoopOptions {
  /** A gateway with the default profile. */
  readonly url: string;
  readonly seconds: number;
  /** Calls in flight, each on its own connection. */
  readonly concurrency: number;
}

/** Runs the loop in a process of its own, from a benchmark that test/bench/run.js runs. @returns calls a second. */
export async function bareLoop(options: BareLoopOptions): Promise<number> {
  const [, runner = ''] = process.argv;
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { stdout } = await promisify(execFile)(process.execPath, [runner, 'bare-loop', ...args]);
  return (JSON.parse(stdout) as { calls_per_second: number }).calls_per_second;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      url: { type: 'string' },
      seconds: { type: 'string', default: '5' },
      concurrency: { type: 'string', default: '100' },
    },
  });
  if (values.url === undefined) throw new Error('--url is missing');
  const concurrency = Number(values.concurrency);
  const pool = new Pool(values.url, { connections: concurrency, pipelining: 1 });
  const ask = asker(pool);
  await loop(ask, concurrency, WARM_UP_MS);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const calls = await loop(ask, concurrency, Number(values.seconds) * 1000);
  const tookMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  await pool.close();
  const line = {
    bench: 'bare-loop',
    calls_per_second: Math.round((calls / tookMs) * 1000),
    cpu_micros_per_call: Number(((cpu.user + cpu.system) / calls).toFixed(1)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function asker(pool: Pool): () => Promise<void> {
  const bodies = Array.from({ length: CARDS }, (_, i) => JSON.stringify({ iccid: demoIccid(i + 1) }));
  let next = 0;
  return async () => {
    next = (next + 1) % CARDS;
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/card/flow',
      headers: { 'content-type': 'application/json' },
      body: bodies[next] ?? null,
    });
    const answer = (await body.json()) as { code: number };
    if (statusCode !== 200 || answer.code !== 200) throw new Error(`HTTP ${statusCode}, code ${answer.code}`);
  };
}

/** Keeps `concurrency` calls in flight for `ms`. @returns the calls made. */
async function loop(ask: () => Promise<void>, concurrency: number, ms: number): Promise<number> {
  const until = performance.now() + ms;
  let calls = 0;
  const one = async () => {
    while (performance.now() < until) {
      await ask();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return calls;
}

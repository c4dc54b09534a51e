// What the dashboard costs and how fast it answers: its share of a core while nobody touches it, and the time from a key
// to the end of the frame that answers it, measured through a pseudo-terminal. Over a demo fleet, or over the daemon given.
//
//   npm run bench:dashboard -- [--url http://127.0.0.1:7480] [--cards 10000] [--seconds 30] [--keys 60]
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { endOwnedProcesses, spawnOwned } from '../support/owned-process.ts';
import { quoted, Terminal } from '../support/terminal.ts';
import { waitFor } from '../support/wait-for.ts';
import { printTable } from './table.ts';

const BINARY = 'bin/cardpoll.js';
/** Of the kernel's accounting (sysconf(_SC_CLK_TCK) on Linux). */
const TICKS_PER_SECOND = 100;
const FRAME_ENDS = '\x1b[?2026l';
/** Between two keys, so that each finds the dashboard at rest. */
const REST_MS = 150;
const SETTLE_MS = 3_000;

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      url: { type: 'string' },
      cards: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '30' },
      keys: { type: 'string', default: '60' },
    },
  });
  try {
    const url = values.url ?? (await startDemo(Number(values.cards)));
    const command = [process.execPath, BINARY, 'dashboard', '--url', url].map(quoted).join(' ');
    const terminal = new Terminal(command, { env: { NODE_ENV: 'production' } });
    await terminal.waitFor(/● live/);
    await sleep(SETTLE_MS);
    const cpuPercent = await cpuShare(terminal.commandPid, Number(values.seconds));
    const latencies = await keyLatencies(terminal, Number(values.keys));
    terminal.press('q');
    await terminal.ended();
    report(cpuPercent, latencies);
  } finally {
    await endOwnedProcesses();
  }
}

async function startDemo(cards: number): Promise<string> {
  const listen = `127.0.0.1:${await freePort()}`;
  spawnOwned(process.execPath, [BINARY, 'demo', '--cards', String(cards), '--listen', listen], {
    stdio: 'ignore',
    env: process.env,
  });
  const url = `http://${listen}`;
  await waitFor(async () => (await fetch(`${url}/readyz`)).ok, {
    timeoutMs: 120_000,
    everyMs: 200,
    what: 'the demo to be ready',
  });
  return url;
}

/** Percent of one core. */
async function cpuShare(pid: number, seconds: number): Promise<number> {
  const [fromTicks, fromMs] = [ticksOf(pid), performance.now()];
  await sleep(seconds * 1_000);
  const usedSeconds = (ticksOf(pid) - fromTicks) / TICKS_PER_SECOND;
  return (100 * usedSeconds) / ((performance.now() - fromMs) / 1_000);
}

/** User and system time so far, of all threads. */
function ticksOf(pid: number): number {
  const behindName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return Number(behindName[11]) + Number(behindName[12]);
}

/** Opens and closes the page of keys. @returns milliseconds a key. */
async function keyLatencies(terminal: Terminal, keys: number): Promise<number[]> {
  const latencies: number[] = [];
  for (let i = 0; i < keys; i += 1) {
    const answer = i % 2 === 0 ? 'Keys that change something' : 'POLLS/S';
    const from = terminal.written.length;
    const pressedMs = performance.now();
    terminal.press('?');
    while (!hasFrame(terminal.written.slice(from), answer)) await nextTurn();
    latencies.push(performance.now() - pressedMs);
    await sleep(REST_MS);
  }
  return latencies.sort((a, b) => a - b);
}

function hasFrame(written: string, answer: string): boolean {
  const at = written.indexOf(answer);
  return at !== -1 && written.indexOf(FRAME_ENDS, at) !== -1;
}

function report(cpuPercent: number, latencies: readonly number[]): void {
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? 0;
  printTable(
    ['dashboard', 'measured', 'target'],
    [
      ['share of a core at rest, %', cpuPercent.toFixed(1), '5'],
      ['key to frame, median, ms', at(0.5).toFixed(1), ''],
      ['key to frame, 95th percentile, ms', at(0.95).toFixed(1), '50'],
      ['key to frame, slowest, ms', at(1).toFixed(1), ''],
    ],
  );
  const line = {
    bench: 'dashboard',
    cpu_percent: Number(cpuPercent.toFixed(2)),
    key_p50_ms: Number(at(0.5).toFixed(1)),
    key_p95_ms: Number(at(0.95).toFixed(1)),
    key_max_ms: Number(at(1).toFixed(1)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

// What the screens of an on-call cost and how fast they answer: the dashboard's share of a core while nobody touches it
// and the time from a key to the end of the frame that answers it, on a small terminal and on a tall one with charts
// (measured through a pseudo-terminal), and explaining a card. Over a daemon that polls a fleet on real stores, or over
// the daemon given.
//
//   npm run bench:dashboard -- [--cards 100000] [--seconds 30] [--keys 60] [--url http://127.0.0.1:7480]
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { endOwnedProcesses } from '../support/owned-process.ts';
import { quoted, Terminal } from '../support/terminal.ts';
import { waitFor } from '../support/wait-for.ts';
import { cpuSeconds, getJson, Stack } from './stack.ts';
import { printTable } from './table.ts';

/** What it shows when all of it is there, and its share of a core that is allowed, in percent. */
const SIZES = [
  { columns: 80, rows: 24, shows: /POLLS\/S/, most: 5 },
  { columns: 120, rows: 40, shows: /\d min ago/, most: 8 },
  { columns: 200, rows: 60, shows: /latest changes/, most: 12 },
] as const;
const BINARY = 'bin/cardpoll.js';
const FRAME_ENDS = '\x1b[?2026l';
/** Between two keys, so that each finds the dashboard at rest. */
const REST_MS = 150;
const SETTLE_MS = 3_000;
const EXPLANATIONS = 200;
/** Loading ten million cards takes minutes. */
const LOADED_WITHIN_MS = 1_800_000;

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      url: { type: 'string' },
      cards: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '30' },
      keys: { type: 'string', default: '60' },
    },
  });
  const seconds = Number(values.seconds);
  let stack: Stack | null = null;
  try {
    stack = values.url === undefined ? await Stack.start() : null;
    const url = values.url ?? (await startFleet(stack as Stack, Number(values.cards)));
    const screens: Screen[] = [];
    // One after the other, so that none costs the other anything.
    for (const size of SIZES) screens.push(await measured(size, url, seconds, Number(values.keys)));
    report(screens, await explainLatencies(url));
  } finally {
    await endOwnedProcesses();
    await stack?.stop();
  }
}

/** A daemon that has loaded its cards and polls them as a fresh database has it. @returns its URL */
async function startFleet(stack: Stack, cards: number): Promise<string> {
  await stack.insertCards(cards);
  const simulator = await stack.startSimulator('--latency-ms', '20');
  const { url } = await stack.startDaemon(simulator.url);
  await waitFor(
    async () => {
      const { status } = await getJson<{ status: string }>(`${url}/api/admin/polling-stats/init-progress`);
      return status === 'completed';
    },
    { timeoutMs: LOADED_WITHIN_MS, everyMs: 1_000, what: 'all cards to be loaded' },
  );
  return url;
}

interface Screen {
  /** `80x24` */
  readonly size: string;
  readonly cpuPercent: number;
  readonly most: number;
  /** Milliseconds a key, the fastest first. */
  readonly keys: readonly number[];
}

async function measured(
  { columns, rows, shows, most }: (typeof SIZES)[number],
  url: string,
  seconds: number,
  keys: number,
): Promise<Screen> {
  const command = [process.execPath, BINARY, 'dashboard', '--url', url].map(quoted).join(' ');
  const terminal = new Terminal(command, { columns, rows, env: { NODE_ENV: 'production' } });
  await terminal.waitFor(/● live/);
  await terminal.waitFor(shows);
  await sleep(SETTLE_MS);
  const cpuPercent = await cpuShare(terminal.commandPid, seconds);
  const latencies = await keyLatencies(terminal, keys);
  terminal.press('q');
  await terminal.ended();
  return { size: `${columns}x${rows}`, cpuPercent, most, keys: latencies };
}

/** Percent of one core. */
async function cpuShare(pid: number, seconds: number): Promise<number> {
  const [from, fromMs] = [cpuSeconds(pid), performance.now()];
  await sleep(seconds * 1_000);
  return (100 * (cpuSeconds(pid) - from)) / ((performance.now() - fromMs) / 1_000);
}

/** Of cards from all over the fleet. @returns milliseconds an explanation. */
async function explainLatencies(url: string): Promise<number[]> {
  const { cards_total: cards } = await getJson<{ cards_total: number }>(`${url}/api/admin/polling-stats`);
  const latencies: number[] = [];
  for (let i = 0; i < EXPLANATIONS; i += 1) {
    const cardId = 1 + Math.floor((cards * i) / EXPLANATIONS);
    const askedMs = performance.now();
    const { tasks } = await getJson<{ tasks: unknown[] }>(`${url}/api/admin/cards/${cardId}/explain`);
    if (tasks.length === 0) throw new Error(`card ${cardId} was not explained`);
    latencies.push(performance.now() - askedMs);
  }
  return latencies.sort((a, b) => a - b);
}

/** Opens and closes the page of keys. @returns milliseconds a key. */
async function keyLatencies(terminal: Terminal, keys: number): Promise<number[]> {
  const latencies: number[] = [];
  for (let i = 0; i < keys; i += 1) {
    const answer = i % 2 === 0 ? 'Keys that change something' : 'realname';
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

function report(screens: readonly Screen[], explanations: readonly number[]): void {
  printTable(
    ['on-call screens', 'measured', 'target'],
    [
      ...screens.flatMap(({ size, cpuPercent, most, keys }) => [
        [`dashboard ${size}: share of a core at rest, %`, cpuPercent.toFixed(1), String(most)],
        [`dashboard ${size}: key to frame, median, ms`, at(keys, 0.5).toFixed(1), ''],
        [`dashboard ${size}: key to frame, 95th percentile, ms`, at(keys, 0.95).toFixed(1), '50'],
      ]),
      ['explain, median, ms', at(explanations, 0.5).toFixed(1), ''],
      ['explain, slowest, ms', at(explanations, 1).toFixed(1), '1000'],
    ],
  );
  const line = {
    bench: 'dashboard',
    screens: screens.map(({ size, cpuPercent, keys }) => ({
      size,
      cpu_percent: Number(cpuPercent.toFixed(2)),
      key_p50_ms: Number(at(keys, 0.5).toFixed(1)),
      key_p95_ms: Number(at(keys, 0.95).toFixed(1)),
    })),
    explain_p50_ms: Number(at(explanations, 0.5).toFixed(1)),
    explain_max_ms: Number(at(explanations, 1).toFixed(1)),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

// What one process takes on the Node that runs this: start-up of short commands as a multiple of a bare `node -e 0`, and memory of
// the demo and of a daemon on real stores, the highest and the last. Run it with each Node to compare them:
//
//   npm run bench:footprint -- [--seconds 60] [--cards 10000] [--starts 7]
import { type ChildProcess, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { freePort } from '../support/free-port.ts';
import { endProcess, spawnOwned } from '../support/owned-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { BINARY, Stack } from './stack.ts';
import { printTable } from './table.ts';

const ICCID = '8986001234567890123';

interface Memory {
  readonly peak_mb: number;
  readonly last_mb: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '60' },
      cards: { type: 'string', default: '10000' },
      starts: { type: 'string', default: '7' },
    },
  });
  const [seconds, cards, starts] = [values.seconds, values.cards, values.starts].map(Number) as [
    number,
    number,
    number,
  ];
  const startUp = startUps(starts);
  const demo = await memoryOfDemo(cards, seconds);
  const daemon = await memoryOfDaemon(cards, seconds);
  printTable(
    [`Node ${process.version}`, 'times node -e 0', 'peak MB', 'last MB'],
    [
      ...Object.entries(startUp).map(([name, ratio]) => [name, ratio.toFixed(2), '', '']),
      ...Object.entries({ demo, daemon }).map(([name, memory]) => [
        ...[name, '', String(memory.peak_mb), String(memory.last_mb)],
      ]),
    ],
  );
  process.stdout.write(
    `${JSON.stringify({ bench: 'footprint', node: process.version, start_up: startUp, demo, daemon })}\n`,
  );
}

/** One command after the other in each round, so that all see the same machine. @returns medians of the ratios. */
function startUps(rounds: number): Record<string, number> {
  const logs = temporaryDirectory('footprint');
  const line = `{"time":"2026-02-01T10:00:00Z","iccid":"${ICCID}","msg":"polled"}\n`;
  writeFileSync(join(logs, 'worker.log.gz'), gzipSync(line));
  const search = ['logs', '--roots', logs, '--iccid', ICCID, '--count-only'];
  const commands: Record<string, readonly string[]> = {
    '--version': ['--version'],
    '--help': ['--help'],
    logs: search,
  };
  const ratios = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    const bareMs = millisecondsOf('-e', '0');
    for (const [name, args] of Object.entries(commands)) {
      const ratio = millisecondsOf(BINARY, ...args) / bareMs;
      ratios.set(name, [...(ratios.get(name) ?? []), ratio]);
    }
  }
  rmSync(logs, { recursive: true });
  return Object.fromEntries([...ratios].map(([name, all]) => [name, median(all)]));
}

function millisecondsOf(...args: string[]): number {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - startedMs;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function memoryOfDemo(cards: number, seconds: number): Promise<Memory> {
  const listen = `127.0.0.1:${await freePort()}`;
  const args = ['demo', '--cards', String(cards), '--listen', listen];
  const demo = spawnOwned(BINARY, args, { stdio: 'ignore' });
  try {
    await sleep(1_000 * seconds);
    return memoryOf(demo);
  } finally {
    await endProcess(demo, 'SIGTERM', 40_000);
  }
}

async function memoryOfDaemon(cards: number, seconds: number): Promise<Memory> {
  const stack = await Stack.start();
  try {
    await stack.insertCards(cards);
    const simulator = await stack.startSimulator('--latency-ms', '20');
    const daemon = await stack.startDaemon(simulator.url);
    await sleep(1_000 * seconds);
    const memory = memoryOf(daemon);
    await daemon.stop();
    await simulator.stop();
    return memory;
  } finally {
    await stack.stop();
  }
}

function memoryOf({ pid }: Pick<ChildProcess, 'pid'>): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024);
  return { peak_mb: megabytes('VmHWM'), last_mb: megabytes('VmRSS') };
}

// A daemon at full speed for half an hour, while a dashboard looks at it: does its memory grow, does it keep descriptors, does its event
// loop answer. Read once in a few seconds, from /proc and from /metrics.
//
//   npm run bench:soak -- [--minutes 30] [--cards 100000] [--limit 128]
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { endOwnedProcesses } from '../support/owned-process.ts';
import { quoted, Terminal } from '../support/terminal.ts';
import { scheduleAll } from './all-scheduled.ts';
import { getJson, Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

const BINARY = 'bin/cardpoll.js';
const READ_EVERY_MS = 5_000;
/** A fifth of the time: the heap, the card cache and the pools fill. */
const WARM_UP_SHARE = 0.2;
/** More comes due than can be polled. */
const INTERVAL_SECONDS = 2;
const TARGETS = { rss_mb_a_minute: 0.5, descriptors: 0, event_loop_p99_ms: 50 };

interface Reading {
  readonly minute: number;
  readonly rssMb: number;
  readonly descriptors: number;
  /** Since the reading before. */
  readonly loopP99Ms: number;
  readonly calls: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      minutes: { type: 'string', default: '30' },
      cards: { type: 'string', default: '100000' },
      limit: { type: 'string', default: '128' },
    },
  });
  const [minutes, cards, limit] = [values.minutes, values.cards, values.limit].map(Number) as [
    number,
    number,
    number,
  ];
  const stack = await Stack.start();
  try {
    await stack.insertCards(cards);
    const simulator = await stack.startSimulator();
    const daemon = await stack.startDaemon(simulator.url);
    await scheduleAll(daemon.url, { cards, limit, intervalSeconds: INTERVAL_SECONDS });
    const command = [process.execPath, BINARY, 'dashboard', '--url', daemon.url].map(quoted).join(' ');
    const terminal = new Terminal(command, { columns: 120, rows: 40, env: { NODE_ENV: 'production' } });
    await terminal.waitFor(/● live/);
    const readings: Reading[] = [];
    const began = performance.now();
    for (let minute = 0; minute < minutes; ) {
      await sleep(READ_EVERY_MS);
      minute = (performance.now() - began) / 60_000;
      readings.push(await read(minute, daemon, simulator.url));
      // What it draws is kept here, too, and nobody reads it.
      terminal.written = '';
    }
    report(readings, minutes, cards);
  } finally {
    await endOwnedProcesses();
    await stack.stop();
  }
}

async function read(
  minute: number,
  { pid, url }: { readonly pid: number; readonly url: string },
  simulatorUrl: string,
): Promise<Reading> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const lag = /^cardpoll_nodejs_eventloop_lag_p99_seconds\S* (\S+)$/m.exec(metrics)?.[1];
  const rss = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    minute,
    rssMb: Number(rss) / 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    loopP99Ms: Number(lag) * 1_000,
    calls: (await getJson<{ requests: number }>(`${simulatorUrl}/stats`)).requests,
  };
}

function report(readings: readonly Reading[], minutes: number, cards: number): void {
  const warm = readings.filter(({ minute }) => minute >= minutes * WARM_UP_SHARE);
  const first = warm[0];
  const last = warm.at(-1);
  if (first === undefined || last === undefined || first === last)
    throw new Error('too short to say anything');
  const rss = warm.map(({ rssMb }) => rssMb);
  const loops = warm.map(({ loopP99Ms }) => loopP99Ms).sort((a, b) => a - b);
  const line = {
    bench: 'soak',
    minutes,
    cards,
    polls_per_second: Math.round((last.calls - first.calls) / ((last.minute - first.minute) * 60)),
    rss_mb: Math.round(last.rssMb),
    rss_mb_highest: Math.round(Math.max(...rss)),
    rss_mb_a_minute: Number(slope(warm.map(({ minute, rssMb }) => [minute, rssMb])).toFixed(2)),
    /** What came to the number of descriptors: the slope over the whole time, so that a connection more or less at the end is not it. */
    descriptors: Number(
      (slope(warm.map(({ minute, descriptors }) => [minute, descriptors])) * minutes).toFixed(1),
    ),
    event_loop_p99_ms: Number((loops[Math.floor(loops.length / 2)] ?? 0).toFixed(1)),
    event_loop_p99_ms_worst: Number((loops.at(-1) ?? 0).toFixed(1)),
    targets: TARGETS,
  };
  printTable(
    ['after the warm-up', 'measured', 'target'],
    [
      ['polls a second', perSecond(line.polls_per_second), ''],
      ['RSS at the end, MB', String(line.rss_mb), ''],
      ['growth of RSS, MB a minute', String(line.rss_mb_a_minute), `< ${TARGETS.rss_mb_a_minute}`],
      ['descriptors added', String(line.descriptors), String(TARGETS.descriptors)],
      [
        'event loop p99, ms, median of readings',
        String(line.event_loop_p99_ms),
        `< ${TARGETS.event_loop_p99_ms}`,
      ],
      ['event loop p99, ms, worst reading', String(line.event_loop_p99_ms_worst), ''],
    ],
  );
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Least squares. @param points x and y @returns y for each x */
function slope(points: ReadonlyArray<readonly [number, number]>): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x0, y0] = [mean(0), mean(1)];
  const over = points.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0);
  return over / points.reduce((sum, [x]) => sum + (x - x0) ** 2, 0);
}

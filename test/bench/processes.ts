// Polls a second of the whole product with 1, 2 and more processes (`daemon --processes`), against the same Redis, PostgreSQL
// and simulated gateway. On one machine all of these share the cores: what the processes gain is what the others leave them, so
// CPU time a poll stands beside the rates.
//
//   npm run bench:processes -- [--processes 1,2] [--cards 10000] [--seconds 10] [--limit 128]
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { waitFor } from '../support/wait-for.ts';
import { cpuSeconds, getJson, putJson, Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

/** Polls that come due a second: more than can be polled, so supply is never the limit. */
const DUE_A_SECOND = 60_000;
/** Polls of each card before it counts: the steady state is measured, not the first readings. */
const WARM_UP_POLLS = 2;

interface Measured {
  readonly processes: number;
  readonly rate: number;
  /** Microseconds of the supervisor and its processes. */
  readonly cpuMicros: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      processes: { type: 'string', default: '1,2' },
      cards: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '10' },
      limit: { type: 'string', default: '128' },
    },
  });
  const cards = Number(values.cards);
  const measured: Measured[] = [];
  const stack = await Stack.start();
  try {
    await stack.insertCards(cards);
    for (const processes of values.processes.split(',').map(Number)) {
      const options = { processes, cards, seconds: Number(values.seconds), limit: Number(values.limit) };
      measured.push(await measure(stack, options));
    }
  } finally {
    await stack.stop();
  }
  printTable(
    ['processes', 'polls a second', 'CPU microseconds a poll'],
    measured.map(({ processes, rate, cpuMicros }) => [
      String(processes),
      perSecond(rate),
      cpuMicros.toFixed(0),
    ]),
  );
  const line = {
    bench: 'processes',
    cores: availableParallelism(),
    cards,
    polls_per_second: Object.fromEntries(
      measured.map(({ processes, rate }) => [processes, Math.round(rate)]),
    ),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

interface Options {
  readonly processes: number;
  readonly cards: number;
  readonly seconds: number;
  readonly limit: number;
}

async function measure(stack: Stack, { processes, cards, seconds, limit }: Options): Promise<Measured> {
  const simulator = await stack.startSimulator();
  const daemon = await stack.startDaemon(simulator.url, {
    CARDPOLL_PROCESSES: String(processes),
    CARDPOLL_QUEUE_CAP: '20000',
  });
  const admin = `${daemon.url}/api/admin`;
  for (const type of TASK_TYPES)
    await putJson(`${admin}/polling-concurrency/${type}`, { max_concurrency: limit });
  const intervalSeconds = Math.ceil((cards * TASK_TYPES.length) / DUE_A_SECOND);
  for (const id of [1, 2, 3, 4])
    await putJson(`${admin}/polling-configs/${id}`, { interval_seconds: intervalSeconds });
  const calls = async () => (await getJson<{ requests: number }>(`${simulator.url}/stats`)).requests;
  const enough = WARM_UP_POLLS * cards * TASK_TYPES.length;
  await waitFor(async () => (await calls()) > enough, {
    timeoutMs: 300_000,
    everyMs: 100,
    what: 'the warm-up',
  });
  const [from, callsFrom, cpuFrom] = [performance.now(), await calls(), cpuSeconds(daemon.pid)];
  await waitFor(() => performance.now() - from >= seconds * 1_000, {
    timeoutMs: seconds * 2_000,
    everyMs: 50,
  });
  const polls = (await calls()) - callsFrom;
  const rate = polls / ((performance.now() - from) / 1_000);
  const cpuMicros = ((cpuSeconds(daemon.pid) - cpuFrom) / polls) * 1e6;
  await daemon.stop();
  await simulator.stop();
  return { processes, rate, cpuMicros };
}

// Polls a second of the whole product with 1, 2 and more processes (`daemon --processes`), against the same Redis, PostgreSQL
// and simulated gateway. On one machine all of these share the cores, with whatever else it does: what the processes gain is
// what the others leave them. So CPU time a poll stands beside the rates, who had the cores, and what bounds the number.
//
//   npm run bench:processes -- [--processes 1,2] [--cards 10000] [--seconds 10] [--limit 128]
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { waitFor } from '../support/wait-for.ts';
import { type MachineUse, watchMachine } from './machine-use.ts';
import { getJson, putJson, Stack } from './stack.ts';
import { perSecond, printTable } from './table.ts';

/** Polls that come due a second: more than can be polled, so supply is never the limit. */
const DUE_A_SECOND = 60_000;
/** Polls of each task type before it counts, a process: code is compiled, first readings are written. */
const WARM_UP_POLLS = 5_000;

interface Measured extends MachineUse {
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
  print(measured);
  const byProcesses = (read: (one: Measured) => number | string) =>
    Object.fromEntries(measured.map((one) => [one.processes, read(one)]));
  const line = {
    bench: 'processes',
    cores: availableParallelism(),
    cards,
    polls_per_second: byProcesses(({ rate }) => Math.round(rate)),
    cpu_us_per_poll: byProcesses(({ cpuMicros }) => Math.round(cpuMicros)),
    others_cores: byProcesses(({ others }) => Number(others.toFixed(2))),
    bound: byProcesses(({ bound }) => bound),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function print(measured: readonly Measured[]): void {
  printTable(
    ['processes', 'polls a second', 'CPU microseconds a poll', 'a core of daemon would do'],
    measured.map(({ processes, rate, cpuMicros }) => [
      String(processes),
      perSecond(rate),
      cpuMicros.toFixed(0),
      perSecond(1e6 / cpuMicros),
    ]),
  );
  const parts = Object.keys(measured[0]?.cores ?? {});
  printTable(
    ['processes', ...parts, 'others', 'idle', 'bound by'],
    measured.map(({ processes, cores, others, idle, bound }) => [
      String(processes),
      ...parts.map((part) => (cores[part] ?? 0).toFixed(2)),
      others.toFixed(2),
      idle.toFixed(2),
      bound,
    ]),
  );
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
    // How the limits follow a gateway is measured by flow.ts: here they stay what they are.
    CARDPOLL_ADAPTIVE_CONCURRENCY: 'off',
  });
  const admin = `${daemon.url}/api/admin`;
  for (const type of TASK_TYPES)
    await put(`${admin}/polling-concurrency/${type}`, { max_concurrency: limit });
  const intervalSeconds = Math.ceil((cards * TASK_TYPES.length) / DUE_A_SECOND);
  for (const id of [1, 2, 3, 4])
    await put(`${admin}/polling-configs/${id}`, { interval_seconds: intervalSeconds });
  const calls = async () => (await getJson<{ requests: number }>(`${simulator.url}/stats`)).requests;
  const enough = WARM_UP_POLLS * TASK_TYPES.length * processes;
  await waitFor(async () => (await calls()) > enough, {
    timeoutMs: 300_000,
    everyMs: 100,
    what: 'the warm-up',
  });
  const parts = {
    daemon: { pid: daemon.pid, threads: processes },
    simulator: { pid: simulator.pid, threads: 1 },
    redis: { pid: stack.redis.pid, threads: 1 },
    postgres: { pid: stack.postgres.pid, threads: 0 },
  };
  const [from, callsFrom, used] = [performance.now(), await calls(), watchMachine(parts)];
  await waitFor(() => performance.now() - from >= seconds * 1_000, {
    timeoutMs: seconds * 2_000,
    everyMs: 50,
  });
  const elapsedSeconds = (performance.now() - from) / 1_000;
  const polls = (await calls()) - callsFrom;
  const use = used();
  await daemon.stop();
  await simulator.stop();
  const cpuMicros = ((use.cores.daemon ?? 0) * elapsedSeconds * 1e6) / polls;
  return { processes, rate: polls / elapsedSeconds, cpuMicros, ...use };
}

/** The second measurement begins with all cards due: until the machine has found its balance a store may answer late. */
async function put(url: string, body: unknown): Promise<void> {
  await waitFor(() => putJson(url, body).then(() => true), { timeoutMs: 60_000, everyMs: 500, what: url });
}

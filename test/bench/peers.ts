// The same job by cardpoll's daemon and by pollers of about a hundred lines on BullMQ and on graphile-worker, as their guides
// recommend (peers/bullmq-poller.ts, peers/graphile-poller.ts): ask the simulated gateway for the usage of each card once an
// interval, store it, log a line. In turn, each on its own Redis and PostgreSQL with the same settings and concurrency.
//
// First more cards come due than can be polled: polls a second, CPU time a poll, bytes a card when each was polled at least once.
// Then 10,000 cards once in 20 s: kill -9, and an outage of the gateway, by default of 60 s.
//
//   npm run bench:peers -- [--cards 100000] [--seconds 10] [--concurrency 64] [--outage-seconds 60] [--only cardpoll,bullmq]
import { parseArgs } from 'node:util';
import { waitFor } from '../support/wait-for.ts';
import { type Faults, measureFaults } from './peers/faults.ts';
import { Contender, POLLERS, type PollerName } from './peers/pollers.ts';
import { cpuSeconds, getJson } from './stack.ts';
import { perSecond, printTable } from './table.ts';

/** Far more than any of them polls, so that supply is not the limit; with fewer cards than this, all of them each second. */
const DUE_PER_SECOND = 30_000;
/** Of the faults: each poller keeps up with these. */
const FAULT_FLEET = { cards: 10_000, intervalSeconds: 20 };

interface Measured {
  readonly polls_per_second: number;
  readonly cpu_micros_per_poll: Readonly<Record<string, number>>;
  readonly redis_bytes_per_card: number;
  readonly postgres_bytes_per_card: number;
  /** Until the last card was scheduled. */
  readonly schedule_seconds: number;
}

export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      cards: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '10' },
      concurrency: { type: 'string', default: '64' },
      'outage-seconds': { type: 'string', default: '60' },
      only: { type: 'string', default: POLLERS.join(',') },
    },
  });
  const cards = Number(values.cards);
  const concurrency = Number(values.concurrency);
  const results: Array<{ poller: PollerName; measured: Measured; faults: Faults }> = [];
  for (const poller of POLLERS.filter((name) => values.only.split(',').includes(name))) {
    const intervalSeconds = Math.max(1, Math.floor(cards / DUE_PER_SECOND));
    const measured = await on(poller, { cards, intervalSeconds, concurrency }, (contender) =>
      measure(contender, Number(values.seconds)),
    );
    process.stderr.write(`${poller}: ${perSecond(measured.polls_per_second)} polls a second\n`);
    const faults = await on(poller, { ...FAULT_FLEET, concurrency }, (contender) =>
      measureFaults(contender, Number(values['outage-seconds'])),
    );
    results.push({ poller, measured, faults });
  }
  const rows = results.map(({ measured, faults }) => Object.entries({ ...flat(measured), ...faults }));
  printTable(
    ['', ...results.map(({ poller }) => poller)],
    (rows[0] ?? []).map(([name], i) => [name, ...rows.map((row) => String(row[i]?.[1] ?? 'never'))]),
  );
  for (const { poller, measured, faults } of results)
    process.stdout.write(`${JSON.stringify({ bench: 'peers', poller, cards, ...measured, ...faults })}\n`);
}

async function on<T>(
  poller: PollerName,
  fleet: Contender['fleet'],
  use: (contender: Contender) => Promise<T>,
): Promise<T> {
  const contender = await Contender.open(poller, fleet);
  try {
    return await use(contender);
  } finally {
    await contender.close();
  }
}

async function measure(contender: Contender, seconds: number): Promise<Measured> {
  const { stack, name } = contender;
  const simulator = await stack.startSimulator();
  const scheduling = performance.now();
  const poller = await contender.startFirst(simulator.url);
  const scheduleSeconds = (performance.now() - scheduling) / 1_000;
  await waitFor(async () => (await contender.cardsNotPolledSince(new Date(0))) === 0, {
    timeoutMs: 3_600_000,
    everyMs: 1_000,
    what: `the first polls by ${name}`,
  });
  const pids = {
    poller: poller.pid,
    simulator: simulator.pid,
    redis: stack.redis.pid,
    postgres: stack.postgres.pid,
  };
  const cpu = () => Object.entries(pids).map(([process, pid]) => [process, cpuSeconds(pid)] as const);
  const calls = async () => (await getJson<{ requests: number }>(`${simulator.url}/stats`)).requests;
  const [from, callsFrom, cpuFrom] = [performance.now(), await calls(), new Map(cpu())];
  await waitFor(() => performance.now() - from >= seconds * 1_000, {
    timeoutMs: seconds * 2_000,
    everyMs: 50,
  });
  const polls = (await calls()) - callsFrom;
  const tookSeconds = (performance.now() - from) / 1_000;
  const micros = cpu().map(([process, used]) => [
    process,
    Math.round(((used - (cpuFrom.get(process) ?? 0)) / polls) * 1e6),
  ]);
  const bytes = await contender.bytesPerCard();
  await poller.stop();
  await simulator.stop();
  return {
    polls_per_second: Math.round(polls / tookSeconds),
    cpu_micros_per_poll: Object.fromEntries(micros),
    redis_bytes_per_card: bytes.redis,
    postgres_bytes_per_card: bytes.postgres,
    schedule_seconds: Number(scheduleSeconds.toFixed(1)),
  };
}

function flat({ cpu_micros_per_poll: micros, ...rest }: Measured): Record<string, number> {
  const named = Object.entries(micros).map(([process, used]) => [`cpu_micros_per_poll, ${process}`, used]);
  return { ...rest, ...Object.fromEntries(named) };
}

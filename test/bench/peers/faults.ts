// What a poller does after two faults: its process is killed with calls under way and started again at once, and its gateway is
// away for a while and then there again. The fleet is one that the poller keeps up with.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { waitFor } from '../../support/wait-for.ts';
import { getJson, type RunningBinary } from '../stack.ts';
import type { Contender } from './pollers.ts';

export interface Faults {
  /** Cards that are overdue because of the kill, at most and at the end of the watch. */
  readonly kill_overdue_cards: number;
  readonly kill_overdue_at_end: number;
  /** From the kill until no card was overdue any more; null: some were at the end of the watch. */
  readonly kill_recovered_seconds: number | null;
  /** Calls a second that a gateway got that answered 503 to all. */
  readonly outage_calls_per_second: number;
  /** Most calls in a second after the outage, as a multiple of the calls that the schedule asks for. */
  readonly outage_peak_ratio: number;
  /** From the end of the outage until every card was polled again; null: not within ten minutes. */
  readonly outage_recovered_seconds: number | null;
}

interface Stats {
  readonly requests: number;
  readonly in_flight: number;
}

const LATENCY = ['--latency-ms', '50'];
/** A poll is overdue when it is this late: pollers look for due cards every two seconds at most. */
const GRACE_SECONDS = 5;
/** How long the cards are watched after the kill: what BullMQ's guide says about stalled jobs (30 s), three times. */
const KILL_WATCH_SECONDS = 90;
const RECOVERY_SECONDS = 600;
/** Of a kill, so that some cards are lost if cards can be. */
const CALLS_UNDER_WAY = 5;

export async function measureFaults(contender: Contender, outageSeconds: number): Promise<Faults> {
  const simulator = await contender.stack.startSimulator(...LATENCY);
  const first = await contender.startFirst(simulator.url);
  await waitFor(async () => (await contender.cardsNotPolledSince(new Date(0))) === 0, {
    timeoutMs: 600_000,
    everyMs: 500,
    what: `the first polls by ${contender.name}`,
  });
  const { poller, ...kill } = await killAndWatch(contender, first, simulator);
  const outage = await takeGatewayAway(contender, simulator, outageSeconds);
  await poller.stop();
  return { ...kill, ...outage };
}

async function killAndWatch(contender: Contender, first: RunningBinary, simulator: RunningBinary) {
  const overdueSeconds = contender.fleet.intervalSeconds + GRACE_SECONDS;
  const overdue = () => contender.cardsNotPolledSince(new Date(Date.now() - overdueSeconds * 1_000));
  await waitFor(async () => (await overdue()) === 0, { everyMs: 100, what: 'a fleet without overdue cards' });
  const busy = async () => (await stats(simulator.url)).in_flight >= CALLS_UNDER_WAY;
  await waitFor(busy, { everyMs: 1, what: 'calls under way' });
  process.kill(first.pid, 'SIGKILL');
  const killed = performance.now();
  const poller = await contender.start(simulator.url);
  const seconds = () => (performance.now() - killed) / 1_000;
  let [most, last, recovered] = [0, 0, 0];
  await waitFor(
    async () => {
      const before = last;
      last = await overdue();
      most = Math.max(most, last);
      if (before > 0 && last === 0) recovered = seconds();
      return seconds() >= KILL_WATCH_SECONDS;
    },
    { timeoutMs: 2 * KILL_WATCH_SECONDS * 1_000, everyMs: 250 },
  );
  return {
    poller,
    kill_overdue_cards: most,
    kill_overdue_at_end: last,
    kill_recovered_seconds: last === 0 ? Math.round(recovered) : null,
  };
}

async function takeGatewayAway(contender: Contender, simulator: RunningBinary, outageSeconds: number) {
  const port = Number(new URL(simulator.url).port);
  await simulator.stop();
  const refused = await refuseCalls(port, outageSeconds);
  const back = await contender.stack.startSimulatorOn(port, ...LATENCY);
  const [endedAt, ended] = [new Date(), performance.now()];
  const seconds = () => (performance.now() - ended) / 1_000;
  let [peak, missing] = [0, contender.fleet.cards];
  let [at, calls] = [performance.now(), 0];
  await waitFor(
    async () => {
      const { requests } = await stats(back.url);
      const now = performance.now();
      if (now - at >= 1_000) {
        peak = Math.max(peak, (requests - calls) / ((now - at) / 1_000));
        [at, calls] = [now, requests];
      }
      missing = await contender.cardsNotPolledSince(endedAt);
      return missing === 0 || seconds() >= RECOVERY_SECONDS;
    },
    { timeoutMs: 2 * RECOVERY_SECONDS * 1_000, everyMs: 100 },
  );
  const recovered = missing === 0 ? Math.round(seconds()) : null;
  await back.stop();
  const due = contender.fleet.cards / contender.fleet.intervalSeconds;
  return {
    outage_calls_per_second: Math.round(refused / outageSeconds),
    outage_peak_ratio: Number((peak / due).toFixed(1)),
    outage_recovered_seconds: recovered,
  };
}

/** In the place of the gateway, for so long. @returns calls */
async function refuseCalls(port: number, forSeconds: number): Promise<number> {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    request.resume();
    response.writeHead(503).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const until = performance.now() + forSeconds * 1_000;
  await waitFor(() => performance.now() >= until, { timeoutMs: forSeconds * 2_000 + 1_000, everyMs: 100 });
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  return calls;
}

function stats(url: string): Promise<Stats> {
  return getJson<Stats>(`${url}/stats`);
}

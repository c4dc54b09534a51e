// Polls a second, as the gateway counts them, while a client sends expensive requests as fast as it gets answers. Each
// measurement stands between two without requests and is compared with their mean: what else runs on the machine changes.
// The row "control" is a client of a bare server in another process: so much polling loses to the machine, not to the daemon.
import { setMaxListeners } from 'node:events';
import { setPriority } from 'node:os';
import { Pool } from 'undici';
import { getJson } from '../stack.ts';
import { perSecond, printTable } from '../table.ts';
import { withBareServer } from './bare-server.ts';

const PATHS: Readonly<Record<string, string>> = {
  openapi: '/openapi.json',
  metrics: '/metrics',
  export: '/api/admin/cards/export',
  preview: '/api/admin/polling-manual-trigger/preview',
  stats: '/api/admin/polling-stats',
  livez: '/livez',
};
/** Of a client that does not compete with the daemon for the machine it runs on. */
const LOWEST_PRIORITY = 19;
/** As long as exports or counts may take all the time they want, after a time without any (guard/expensive-reads.ts). */
const BURST_SECONDS = 12;

interface Pressure {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly pollsPerSecond: number;
  /** Of the polls without requests. */
  readonly share: number;
}

interface Place {
  readonly daemonUrl: string;
  readonly simulatorUrl: string;
  readonly seconds: number;
  readonly connections: number;
}

export async function measurePressure(place: Place): Promise<void> {
  const control = await withBareServer((url) => {
    setPriority(LOWEST_PRIORITY);
    return pressure({ ...place, askedUrl: url }, 'control', '/');
  });
  const rows = [control];
  for (const [name, path] of Object.entries(PATHS))
    rows.push(await pressure({ ...place, askedUrl: place.daemonUrl }, name, path));
  printTable(
    [`${place.connections} connections`, 'requests/s', 'polls/s', 'share'],
    rows.map((one) => [
      one.name,
      perSecond(one.requestsPerSecond),
      perSecond(one.pollsPerSecond),
      one.share.toFixed(2),
    ]),
  );
  const shares = rows.map(({ name, share }) => [name, Number(share.toFixed(2))]);
  process.stdout.write(`${JSON.stringify({ bench: 'api-pressure', share: Object.fromEntries(shares) })}\n`);
}

async function pressure(place: Place & { askedUrl: string }, name: string, path: string): Promise<Pressure> {
  const before = await polls(place, () => pause(place.seconds));
  let answers = 0;
  await send({ ...place, seconds: BURST_SECONDS }, path, () => {});
  const during = await polls(place, () => send(place, path, () => (answers += 1)));
  const after = await polls(place, () => pause(place.seconds));
  const share = (2 * during) / (before + after);
  return { name, requestsPerSecond: answers / place.seconds, pollsPerSecond: during, share };
}

/** @returns calls a second that the gateway saw. */
async function polls({ simulatorUrl }: Place, meanwhile: () => Promise<void>): Promise<number> {
  const calls = async () => (await getJson<{ requests: number }>(`${simulatorUrl}/stats`)).requests;
  const [from, callsFrom] = [performance.now(), await calls()];
  await meanwhile();
  return ((await calls()) - callsFrom) / ((performance.now() - from) / 1_000);
}

/** Keeps every connection busy for the time. Answers that have not come by then are not waited for. */
async function send(
  { askedUrl, seconds, connections }: Place & { askedUrl: string },
  path: string,
  onAnswer: () => void,
): Promise<void> {
  const pool = new Pool(askedUrl, { connections, pipelining: 1 });
  const over = AbortSignal.timeout(seconds * 1_000);
  setMaxListeners(connections, over);
  const one = async () => {
    while (!over.aborted) {
      try {
        const answer = await pool.request({ path, method: 'GET', signal: over });
        await answer.body.dump({ limit: Infinity });
        onAnswer();
      } catch (error) {
        if (!over.aborted) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  await pool.destroy();
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

// Polls a second, as the gateway counts them, while a client sends expensive requests as fast as it gets answers. Each
// measurement stands between two without requests and is compared with their mean: what else runs on the machine changes.
import { setMaxListeners } from 'node:events';
import { setPriority } from 'node:os';
import { Pool } from 'undici';
import { getJson } from '../stack.ts';
import { perSecond, printTable } from '../table.ts';

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
  setPriority(LOWEST_PRIORITY);
  const measured: Pressure[] = [];
  // The first moments of each are the burst that a single client may have.
  for (const [name, path] of Object.entries(PATHS)) {
    const before = await polls(place, async () => pause(place.seconds));
    let answers = 0;
    await send(place, path, () => {});
    const during = await polls(place, () => send(place, path, () => (answers += 1)));
    const after = await polls(place, async () => pause(place.seconds));
    const requestsPerSecond = answers / place.seconds;
    measured.push({
      name,
      requestsPerSecond,
      pollsPerSecond: during,
      share: (2 * during) / (before + after),
    });
  }
  printTable(
    [`${place.connections} connections`, 'requests/s', 'polls/s', 'share'],
    measured.map((one) => [
      one.name,
      perSecond(one.requestsPerSecond),
      perSecond(one.pollsPerSecond),
      one.share.toFixed(2),
    ]),
  );
  const shares = measured.map(({ name, share }) => [name, Number(share.toFixed(2))]);
  process.stdout.write(`${JSON.stringify({ bench: 'api-pressure', share: Object.fromEntries(shares) })}\n`);
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
  { daemonUrl, seconds, connections }: Place,
  path: string,
  onAnswer: () => void,
): Promise<void> {
  const pool = new Pool(daemonUrl, { connections, pipelining: 1 });
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

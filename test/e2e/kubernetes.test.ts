// The pods of deploy/kubernetes, one of each deployment, as processes: with the environment of the container, the volumes as
// kubelet lays them out, and a working directory that no user can write.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BreakableLink } from '../support/breakable-link.ts';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { IMAGE_ENV, PODS, type Pod } from '../support/manifests.ts';
import { spawnCli, waitFor } from '../support/processes.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const TOKEN = '0123456789abcdef';
const [READ_ONLY, MODE] = ['/proc', 0o440];

let fleet: Fleet;
let database: BreakableLink;
let secrets: string;
let config: string;
let pods: Started[];

beforeAll(async () => {
  fleet = await Fleet.start();
  database = await BreakableLink.to(Number(new URL(fleet.databaseUrl).port));
  secrets = mounted({
    redis_url: fleet.redisServer.url,
    database_url: database.around(fleet.databaseUrl),
    admin_tokens: `doctor:viewer:${TOKEN}`,
    'client.token': TOKEN,
  });
  config = mounted({ 'cardpoll.yaml': `gateway:\n  url: ${fleet.gatewayUrl}\n` });
  pods = await Promise.all(PODS.map(started));
});
afterAll(() => database?.close());

/** As a volume of kubelet: a file is a link into a directory that is a link itself, so that all change at once. */
function mounted(files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory('volume');
  const data = join(directory, '..2026_11_28');
  mkdirSync(data);
  symlinkSync('..2026_11_28', join(directory, '..data'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(data, name), `${text}\n`);
    chmodSync(join(data, name), MODE);
    symlinkSync(join('..data', name), join(directory, name));
  }
  return directory;
}

/** Runs what the container runs, with the paths and the port that it has here. */
async function started(pod: Pod) {
  const port = await freePort();
  const here = (value: string) =>
    value
      .replace('/etc/cardpoll', config)
      .replace('/run/secrets/cardpoll', secrets)
      .replace(/:7480$/, `:${port}`);
  const variables = Object.entries({ ...IMAGE_ENV, ...pod.env });
  const environment = Object.fromEntries(variables.map(([name, value]) => [name, here(value)]));
  const daemon = spawnCli(['daemon'], { env: environment, cwd: READ_ONLY });
  return { ...pod, environment, daemon, url: `http://127.0.0.1:${port}` };
}

type Started = Awaited<ReturnType<typeof started>>;
type Probe = 'startupProbe' | 'livenessProbe' | 'readinessProbe';

/** The status that the probe sees. */
const probed = async ({ container, url }: Started, probe: Probe) =>
  (await fetch(`${url}${container[probe]?.httpGet?.path}`)).status;

/** Waits until every pod answers the probe with this status. */
async function allAnswer(probe: Probe, status: number): Promise<void> {
  for (const pod of pods) {
    const what = `${probe} of ${pod.name} to see ${status}`;
    await waitFor(async () => !pod.daemon.running || (await probed(pod, probe)) === status, { what });
    expect(pod.daemon.running, pod.daemon.stderr).toBe(true);
  }
}

// A test each: on a busy machine the start alone takes half a minute.
it.each<Probe>(['startupProbe', 'livenessProbe', 'readinessProbe'])('pods answer their %s', (probe) =>
  allAnswer(probe, 200),
);

it('the doctor in a pod with the API finds nothing but that there are no alert rules yet', async () => {
  const api = pods.find(({ env }) => env.CARDPOLL_ROLES?.includes('api'));
  const { report } = await runDoctor(api?.environment ?? {});
  const bad = report.items
    .filter(({ status }) => !['ok', 'skipped'].includes(status))
    .map(({ check }) => check);
  // A machine that runs other tests, too, may be short of processor time, and the doctor says so.
  expect(bad.filter((check) => check !== 'own_cpu')).toEqual(['alert rules']);
});

it('pods are not ready while the stores are away, and alive, so that they are not restarted', async () => {
  fleet.redisServer.pause();
  database.cut();
  try {
    await allAnswer('readinessProbe', 503);
    for (const pod of pods) expect(await probed(pod, 'livenessProbe')).toBe(200);
  } finally {
    fleet.redisServer.resume();
    database.restore();
  }
  await allAnswer('readinessProbe', 200);
});

it('pods drain within their grace period', async () => {
  for (const { daemon } of pods) expect(await daemon.stop()).toMatchObject({ code: 0, signal: null });
});

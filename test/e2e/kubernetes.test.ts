// The pods of deploy/kubernetes, one of each deployment, as processes: with the environment of the container, the volumes as
// kubelet lays them out, and a working directory that no user can write.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { IMAGE_ENV, PODS, type Pod } from '../support/manifests.ts';
import { spawnCli, waitFor } from '../support/processes.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const TOKEN = '0123456789abcdef';
const [READ_ONLY, MODE] = ['/proc', 0o440];

let fleet: Fleet;
let secrets: string;
let config: string;
let pods: Awaited<ReturnType<typeof started>>[];

beforeAll(async () => {
  fleet = await Fleet.start();
  secrets = mounted({
    redis_url: fleet.redisServer.url,
    database_url: fleet.databaseUrl,
    admin_tokens: `doctor:viewer:${TOKEN}`,
    'client.token': TOKEN,
  });
  config = mounted({ 'cardpoll.yaml': `gateway:\n  url: ${fleet.gatewayUrl}\n` });
  pods = await Promise.all(PODS.map(started));
});

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

it('pods answer their probes', async () => {
  for (const { container, daemon, url } of pods) {
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      const asked = `${url}${probe?.httpGet?.path}`;
      const answers = async () => (await fetch(asked)).status === 200;
      await waitFor(async () => !daemon.running || (await answers()), { what: `${asked} to answer` });
    }
    expect(daemon.running, daemon.stderr).toBe(true);
  }
});

it('the doctor in a pod with the API finds nothing but that there are no alert rules yet', async () => {
  const api = pods.find(({ env }) => env.CARDPOLL_ROLES?.includes('api'));
  const { report } = await runDoctor(api?.environment ?? {});
  const bad = report.items.filter(({ status }) => !['ok', 'skipped'].includes(status));
  expect(bad.map(({ check }) => check)).toEqual(['alert rules']);
});

it('pods drain within their grace period', async () => {
  for (const { daemon } of pods) expect(await daemon.stop()).toMatchObject({ code: 0, signal: null });
});

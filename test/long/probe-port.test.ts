// Instances without the admin API: they open no port, or the one that they are given for probes and metrics, and stats name it.
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningCli, runCli, spawnCli, waitFor } from '../support/processes.ts';

const TOKEN = '0123456789abcdef';
/** In /proc/net/tcp. */
const LISTENING = '0A';

let fleet: Fleet;

const worker = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): RunningCli =>
  spawnCli(['daemon', '--roles', 'worker', ...args], { env: { ...stores(), ...env } });
const stores = () => ({
  CARDPOLL_REDIS_URL: fleet.redisServer.url,
  CARDPOLL_DATABASE_URL: fleet.databaseUrl,
  CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
});

beforeAll(async () => {
  fleet = await Fleet.start();
  await fleet.startDaemon();
});

interface Instance {
  readonly worker_id: string;
  readonly pid: number;
  readonly roles: readonly string[];
  readonly probe_address: string | null;
}

async function instances(): Promise<Instance[]> {
  const overview = await fetch(`${fleet.daemons[0]?.url}/api/admin/polling-stats`);
  return ((await overview.json()) as { workers: Instance[] }).workers;
}

/** TCP ports, by the sockets that the process has open. */
function listeningPortsOf(pid: number): number[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
    return inode === undefined ? [] : [inode];
  });
  const rows = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n'),
  );
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === LISTENING && sockets.includes(inode)
      ? [Number.parseInt(local.split(':')[1] ?? '', 16)]
      : [];
  });
}

/** As polling-stats shows it, once the instance has announced itself. */
async function probeUrlOf(process: RunningCli): Promise<string> {
  const found = await waitFor(
    async () => (await instances()).find(({ pid }) => pid === process.pid)?.probe_address,
    { what: 'the instance to show its probe address' },
  );
  return `http://${found}`;
}

const statusOf = async (url: string, headers: Record<string, string> = {}) =>
  (await fetch(url, { headers })).status;

it('opens no port unless it is configured, and is in the list of instances by its name', async () => {
  const workers = ['one', 'two'].map((name) => worker(['--instance-name', name]));
  for (const [at, name] of ['one', 'two'].entries()) {
    const found = await waitFor(
      async () => (await instances()).find(({ worker_id }) => worker_id.includes(`-${name}-`)),
      { what: `instance ${name} to be listed` },
    );
    expect(found).toMatchObject({ pid: workers[at]?.pid, probe_address: null });
    expect(listeningPortsOf(workers[at]?.pid ?? 0)).toEqual([]);
  }
  const api = (await instances()).find(({ roles }) => roles.includes('api'));
  expect(`http://${api?.probe_address}`).toBe(fleet.daemons[0]?.url);
  expect(listeningPortsOf(api?.pid ?? 0)).toEqual([Number(new URL(fleet.daemons[0]?.url ?? '').port)]);
  for (const one of workers) expect((await one.stop()).code).toBe(0);
});

describe('--probe-listen', () => {
  it('serves probes and metrics, and nothing else', async () => {
    const one = worker(['--probe-listen', '127.0.0.1:0']);
    const url = await probeUrlOf(one);
    await waitFor(async () => (await statusOf(`${url}/readyz`)) === 200, { what: 'the worker to be ready' });
    expect(await statusOf(`${url}/livez`)).toBe(200);
    expect(await (await fetch(`${url}/version`)).json()).toMatchObject({ name: 'cardpoll' });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('cardpoll_stores_up 1\n');
    expect(metrics).toContain('cardpoll_leader 0\n');
    expect(metrics).toContain('cardpoll_queue_length{task_type="realname"} 0\n');
    expect(await statusOf(`${url}/api/admin/polling-stats`)).toBe(404);
    expect((await one.stop()).code).toBe(0);
  });

  it('says when it is not ready any more: a frozen Redis answers no claim', async () => {
    const one = worker(['--probe-listen', '127.0.0.1:0']);
    const url = await probeUrlOf(one);
    await waitFor(async () => (await statusOf(`${url}/readyz`)) === 200, { what: 'the worker to be ready' });
    fleet.redisServer.pause();
    try {
      await waitFor(async () => (await statusOf(`${url}/readyz`)) === 503, {
        what: 'the worker to be stalled',
      });
      expect(await statusOf(`${url}/livez`)).toBe(200);
    } finally {
      fleet.redisServer.resume();
    }
    await waitFor(async () => (await statusOf(`${url}/readyz`)) === 200, { what: 'it to be ready again' });
    await one.stop();
  });

  it('a port that is taken ends the daemon as with --listen', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const result = await worker(['--probe-listen', `127.0.0.1:${port}`]).ended();
    other.close();
    expect(result.code).toBe(69);
    expect(result.stderr).toContain(`127.0.0.1:${port}`);
    expect(result.stderr).toContain('--probe-listen');
  });

  it('beyond this machine needs tokens: metrics ask for one, probes do not', async () => {
    const port = await freePort();
    const args = ['--probe-listen', `0.0.0.0:${port}`];
    const refused = await runCli(['daemon', '--roles', 'worker', ...args], { env: stores() });
    expect(refused).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('CARDPOLL_ADMIN_TOKENS'),
    });
    const one = worker(args, { CARDPOLL_ADMIN_TOKENS: `viewer:${TOKEN}` });
    const url = `http://127.0.0.1:${port}`;
    await waitFor(async () => (await statusOf(`${url}/readyz`)) === 200, {
      what: 'the worker to be ready',
    });
    await waitFor(() => one.stdout.includes('tokens come over the network in clear text'), {
      what: 'the warning of tokens without HTTPS',
    });
    expect(await statusOf(`${url}/metrics`)).toBe(401);
    expect(await statusOf(`${url}/metrics`, { authorization: `Bearer ${TOKEN}` })).toBe(200);
    await one.stop();
  });
});

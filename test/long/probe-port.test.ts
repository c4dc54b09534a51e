// Instances without the admin API: each opens a port of its own for supervisors and Prometheus, and stats name it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningCli, runCli, spawnCli, waitFor } from '../support/processes.ts';

const TOKEN = '0123456789abcdef';

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
  readonly pid: number;
  readonly roles: readonly string[];
  readonly probe_address: string | null;
}

async function instances(): Promise<Instance[]> {
  const overview = await fetch(`${fleet.daemons[0]?.url}/api/admin/polling-stats`);
  return ((await overview.json()) as { workers: Instance[] }).workers;
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

describe('two workers on one host', () => {
  it('serve probes and metrics, and nothing else, each on its own port after 7480', async () => {
    const workers = [worker(), worker()];
    const urls = await Promise.all(workers.map(probeUrlOf));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) {
      const port = Number(new URL(url).port);
      expect(port).toBeGreaterThanOrEqual(7_481);
      expect(port).toBeLessThanOrEqual(7_581);
      await waitFor(async () => (await statusOf(`${url}/readyz`)) === 200, {
        what: 'the worker to be ready',
      });
      expect(await statusOf(`${url}/livez`)).toBe(200);
      expect(await (await fetch(`${url}/version`)).json()).toMatchObject({ name: 'cardpoll' });
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toContain('cardpoll_stores_up 1\n');
      expect(metrics).toContain('cardpoll_leader 0\n');
      expect(metrics).toContain('cardpoll_queue_length{task_type="realname"} 0\n');
      expect(await statusOf(`${url}/api/admin/polling-stats`)).toBe(404);
    }
    const api = (await instances()).find(({ roles }) => roles.includes('api'));
    expect(`http://${api?.probe_address}`).toBe(fleet.daemons[0]?.url);
    for (const one of workers) expect((await one.stop()).code).toBe(0);
  });

  it('tell when they are not ready any more: a frozen Redis answers no claim', async () => {
    const one = worker();
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
});

describe('--probe-listen', () => {
  it('that is taken ends the daemon as --listen does', async () => {
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

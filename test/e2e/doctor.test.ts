// `cardpoll doctor` against real stores, a real gateway and a real daemon, and against none of them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { freshDatabase, freshRedis } from '../support/fresh-stores.ts';
import { runCli } from '../support/processes.ts';

interface Report {
  readonly status: string;
  readonly items: ReadonlyArray<{ check: string; status: string; detail: string; hint: string | null }>;
}

const directory = mkdtempSync(join(tmpdir(), 'cardpoll-doctor-'));
let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
  await fleet.startDaemon();
});
afterAll(() => {
  fleet.close();
  rmSync(directory, { recursive: true });
});

async function examine(env: Record<string, string>): Promise<{ code: number | null; report: Report }> {
  const healthy = {
    CARDPOLL_REDIS_URL: fleet.redisServer.url,
    CARDPOLL_DATABASE_URL: fleet.databaseUrl,
    CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
    CARDPOLL_URL: fleet.daemons[0]?.url ?? '',
    CARDPOLL_LOG_DIR: join(directory, 'logs'),
  };
  const { code, stdout } = await runCli(['doctor', '-o', 'json'], { env: { ...healthy, ...env } });
  return { code, report: JSON.parse(stdout) };
}
const statusOf = ({ items }: Report, check: string) => items.find((item) => item.check === check)?.status;

it('finds a healthy fleet healthy', async () => {
  const { code, report } = await examine({});
  expect(report.items.map(({ check, status }) => [check, status])).toEqual([
    ['configuration', 'ok'],
    ['redis', 'ok'],
    ['redis maxmemory-policy', 'ok'],
    ['redis clock', 'ok'],
    ['postgresql', 'ok'],
    ['migrations', 'ok'],
    ['postgresql clock', 'ok'],
    ['gateway', 'ok'],
    ['log directory', 'ok'],
    ['daemon', 'ok'],
  ]);
  expect([code, report.status]).toEqual([0, 'ok']);
});

it('finds everything that is away, each with what to do', async () => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const nowhere = `127.0.0.1:${await freePort()}`;
  const { code, report } = await examine({
    CARDPOLL_REDIS_URL: `redis://${nowhere}`,
    CARDPOLL_DATABASE_URL: `postgres://user@${nowhere}/db`,
    CARDPOLL_GATEWAY_URL: `http://${nowhere}`,
    CARDPOLL_URL: `http://${nowhere}`,
    CARDPOLL_LOG_DIR: file,
  });
  expect([code, report.status]).toEqual([1, 'failed']);
  for (const check of ['redis', 'postgresql', 'gateway', 'log directory', 'daemon']) {
    expect([check, statusOf(report, check)]).toEqual([check, 'failed']);
    expect(report.items.find((item) => item.check === check)?.hint).toMatch(/\w/);
  }
  expect(statusOf(report, 'migrations')).toBe('skipped');
});

it('finds a Redis that evicts, and a database without the schema', async () => {
  const evicting = await freshRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  const { code, report } = await examine({
    CARDPOLL_REDIS_URL: evicting.url,
    CARDPOLL_DATABASE_URL: await freshDatabase(),
  });
  expect(code).toBe(1);
  expect(statusOf(report, 'redis')).toBe('ok');
  expect(statusOf(report, 'redis maxmemory-policy')).toBe('failed');
  expect(statusOf(report, 'migrations')).toBe('warning');
});

it('says that the embedded stores are for trying out', async () => {
  const { code, report } = await examine({
    CARDPOLL_REDIS_URL: '',
    CARDPOLL_DATABASE_URL: '',
    CARDPOLL_DATA_DIR: join(directory, 'new', 'data'),
  });
  expect(code).toBe(0);
  expect(statusOf(report, 'redis')).toBe('warning');
  expect(report.items.find(({ check }) => check === 'data directory')?.detail).toMatch(/can be created in/);
});

// `cardpoll doctor` on servers that are not as they should be, and what it says to type typed: PostgreSQL with too few
// connections, as a standby and waiting for one, and a clock that is off. The rest: doctor.test.ts.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { freshDatabase, freshRedis } from '../support/fresh-stores.ts';
import { type PostgresServer, standbyOf, startPostgres } from '../support/postgres-server.ts';
import { runCli, spawnCli } from '../support/processes.ts';
import { programPath } from '../support/provision.ts';
import { typeCommand } from '../support/type-command.ts';
import { waitFor } from '../support/wait-for.ts';

interface Item {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly command: string | null;
}

const directory = mkdtempSync(join(tmpdir(), 'cardpoll-doctor-servers-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function find(check: string, env: Record<string, string>): Promise<Item> {
  const { stdout } = await runCli(['doctor', '-o', 'json'], { env: await surroundings(env) });
  const item = (JSON.parse(stdout) as { items: Item[] }).items.find((one) => one.check === check);
  if (item === undefined) throw new Error(`no finding about ${check}: ${stdout}`);
  return item;
}

let redisUrl: string | null = null;
async function surroundings(env: Record<string, string>): Promise<Record<string, string>> {
  redisUrl ??= (await freshRedis()).url;
  return { CARDPOLL_REDIS_URL: redisUrl, CARDPOLL_GATEWAY_URL: 'http://127.0.0.1:9', ...env };
}

/** A server of its own, with the schema, that may be stopped. */
async function ownPostgres(): Promise<PostgresServer> {
  programPath('psql', { debianPackage: 'postgresql-client' });
  const server = await startPostgres();
  closing.push(() => server.stop());
  const { code, stderr } = await runCli(['migrate', 'up'], { env: { CARDPOLL_DATABASE_URL: server.url } });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return server;
}

it('too few connections: the command grants more, from the restart on that it asks for', async () => {
  const server = await ownPostgres();
  const env = { CARDPOLL_DATABASE_URL: server.url, CARDPOLL_DATABASE_MAX_CONNECTIONS: '150' };
  const item = await find('postgresql connections', env);
  expect(item.status).toBe('failed');
  typeCommand(item.command, env);
  await server.restart();
  expect((await find('postgresql connections', env)).status).toBe('ok');
});

it('commits that wait for a standby that is away: the command goes on without it', async () => {
  const server = await ownPostgres();
  const env = { CARDPOLL_DATABASE_URL: server.url };
  const psql = `psql ${server.url} -c`;
  typeCommand(
    `${psql} "ALTER SYSTEM SET synchronous_standby_names = 'away'" -c 'SELECT pg_reload_conf()'`,
    env,
  );
  const item = await waitFor(
    async () => {
      const found = await find('postgresql replication', env);
      return found.status === 'failed' ? found : null;
    },
    { what: 'the setting to be in force' },
  );
  expect(item.detail).toMatch(/^commits wait for a standby/);
  typeCommand(item.command, env);
  await waitFor(async () => (await find('postgresql replication', env)).status === 'ok');
});

it('a standby: the command promotes it', async () => {
  const primary = await ownPostgres();
  const standby = await standbyOf(primary);
  closing.push(() => standby.stop());
  await primary.kill();
  await standby.start();
  const env = { CARDPOLL_DATABASE_URL: standby.url };
  const item = await find('postgresql replication', env);
  expect([item.status, item.detail]).toEqual([
    'failed',
    'it takes no writes: a standby, or set to read only',
  ]);
  typeCommand(item.command, env);
  await waitFor(async () => (await find('postgresql replication', env)).status === 'ok');
});

it('months ahead without a partition: a daemon as the command starts it makes them', async () => {
  const env = { CARDPOLL_DATABASE_URL: await freshDatabase() };
  const listen = { CARDPOLL_LISTEN: `127.0.0.1:${await freePort()}` };
  /** Starts what the command says, until the partitions are there. */
  const lead = async (command: string | null) => {
    const words = `${command}`.split(' ').slice(1);
    const daemon = spawnCli(words, { env: { ...(await surroundings(env)), ...listen } });
    try {
      await waitFor(
        async () => {
          const { status, detail } = await find('usage partitions', env);
          return status === 'ok' && detail.endsWith('and 3 months ahead');
        },
        { what: 'the partitions to be made' },
      );
    } finally {
      await daemon.stop();
    }
  };
  await lead('cardpoll daemon');
  const client = new pg.Client({ connectionString: env.CARDPOLL_DATABASE_URL });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'card_usage_2%' ORDER BY 1 DESC",
  );
  await client.query(`DROP TABLE ${rows[0]?.name}`);
  await client.end();
  const item = await find('usage partitions', env);
  expect([item.status, item.detail]).toEqual(['warning', expect.stringMatching(/^only 2 months ahead of/)]);
  await lead(item.command);
});

it("a clock that is off: the command sets it, here in the place of the machine's time service", async () => {
  const offset = join(directory, 'offset');
  writeFileSync(offset, '+15');
  // This machine's clock, as the doctor sees it; those of the servers are right.
  const env = {
    CARDPOLL_DATABASE_URL: await freshDatabase(),
    LD_PRELOAD: fakeTimeLibrary(),
    FAKETIME_TIMESTAMP_FILE: offset,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const item = await find('redis clock', env);
  expect([item.status, item.detail]).toEqual(['failed', expect.stringMatching(/^-1[45]\d\d\d ms/)]);
  expect((await find('postgresql clock', env)).status).toBe('failed');
  typeCommand(item.command, {}, { timedatectl: `[ "$*" = 'set-ntp true' ] && echo +0 > ${offset}` });
  expect((await find('redis clock', env)).status).toBe('ok');
  expect((await find('postgresql clock', env)).status).toBe('ok');
});

function fakeTimeLibrary(): string {
  programPath('faketime');
  const found = readdirSync('/usr/lib')
    .map((name) => join('/usr/lib', name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error('the package faketime brings no libfaketime.so.1');
  return found;
}

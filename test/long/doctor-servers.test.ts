// `cardpoll doctor` on servers that are not as they should be, and what it says to type typed: PostgreSQL with too few
// connections, as a standby and waiting for one, Redis that cannot save or whose replica is behind, servers that are too
// old, and a clock that is off. The rest: doctor.test.ts.
import { once } from 'node:events';
import { mkdirSync, rmdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { FakeTime } from '../support/fake-time.ts';
import { freePort } from '../support/free-port.ts';
import { emptyDatabase, freshRedis } from '../support/fresh-stores.ts';
import { type PostgresServer, query, standbyOf, startPostgres } from '../support/postgres-server.ts';
import { runCli, spawnCli } from '../support/processes.ts';
import { programPath } from '../support/provision.ts';
import { type Finding, runDoctor, spawnDoctor } from '../support/run-doctor.ts';
import { typeCommand } from '../support/type-command.ts';
import { waitFor } from '../support/wait-for.ts';

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function find(check: string, env: Record<string, string>, run = runDoctor): Promise<Finding> {
  const { found, report } = await run(await surroundings(env));
  const item = found(check);
  if (item === undefined) throw new Error(`no finding about ${check}: ${JSON.stringify(report)}`);
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
  expect([item.status, item.detail]).toEqual(['failed', 'it takes no writes: it is a standby']);
  typeCommand(item.command, env);
  await waitFor(async () => (await find('postgresql replication', env)).status === 'ok');
});

it('months ahead without a partition: a daemon as the command starts it makes them', async () => {
  const env = { CARDPOLL_DATABASE_URL: await emptyDatabase() };
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
  const [month] = await query(
    env.CARDPOLL_DATABASE_URL,
    "SELECT relname AS value FROM pg_class WHERE relkind = 'r' AND relname LIKE 'card_usage_2%' ORDER BY 1 DESC",
  );
  await query(env.CARDPOLL_DATABASE_URL, `DROP TABLE ${month?.value}`);
  const item = await find('usage partitions', env);
  expect([item.status, item.detail]).toEqual(['warning', expect.stringMatching(/^only 2 months ahead of/)]);
  await lead(item.command);
});

it('a Redis that cannot save refuses writes: the command saves again, once there is room', async () => {
  const server = await freshRedis({ args: ['--save', '3600 1'] });
  const env = { CARDPOLL_REDIS_URL: server.url, CARDPOLL_DATABASE_URL: await emptyDatabase() };
  const redis = (words: string) => typeCommand(`redis-cli -e -u ${server.url} ${words}`, {});
  expect((await find('redis replication', env)).status).toBe('ok');
  // In the way of the file it is to write, which stops root too.
  const inTheWay = join(server.dir, 'dump.rdb');
  mkdirSync(inTheWay);
  redis('BGSAVE');
  const becomes = (status: string) =>
    waitFor(
      async () => {
        const found = await find('redis replication', env);
        return found.status === status ? found : null;
      },
      { what: `the save to end: ${status}` },
    );
  const item = await becomes('failed');
  expect(item.detail).toMatch(/could not write to its disk and refuses work: MISCONF/);
  expect(() => redis('SET card 1')).toThrow(/MISCONF/);
  rmdirSync(inTheWay);
  typeCommand(item.command, env);
  await becomes('ok');
  redis('SET card 1');
});

it('a replica that is behind: the command shows it, until it has caught up', async () => {
  const held = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '86400'];
  const [master, replica] = [await freshRedis({ args: held }), await freshRedis()];
  const env = { CARDPOLL_REDIS_URL: master.url, CARDPOLL_DATABASE_URL: await emptyDatabase() };
  typeCommand(`redis-cli -u ${replica.url} REPLICAOF 127.0.0.1 ${master.port}`, {});
  const becomes = (status: string) =>
    waitFor(
      async () => {
        const found = await find('redis replication', env);
        return found.status === status && found.detail.includes('1 ') ? found : null;
      },
      { what: `the replica to be ${status}` },
    );
  const item = await becomes('warning');
  expect(item.detail).toMatch(/^1 of 1 replicas of 127\.0\.0\.1:\d+ are behind/);
  expect(typeCommand(item.command, env)).toMatch(/^slave0:.*state=wait_bgsave/m);
  typeCommand(`redis-cli -u ${master.url} CONFIG SET repl-diskless-sync-delay 0`, {});
  expect((await becomes('ok')).detail).toMatch(/^1 replicas/);
});

it('servers that are too old, as real ones report themselves but for the version, until they are updated', async () => {
  const redis = await freshRedis();
  const databaseUrl = await emptyDatabase();
  const [version] = await query<{ value: string }>(
    databaseUrl,
    "SELECT (current_setting('server_version_num')::integer / 10000)::text AS value",
  );
  const old = {
    CARDPOLL_REDIS_URL: await saysInstead(redis.url, /redis_version:\d/, 'redis_version:5'),
    CARDPOLL_DATABASE_URL: await saysInstead(databaseUrl, column(version?.value ?? ''), column('13')),
  };
  const { code, found } = await runDoctor(await surroundings(old));
  expect(code).toBe(1);
  expect(found('redis version')).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/ lacks commands that cardpoll needs: Redis 5\.\S+$/),
    hint: 'replace it with Valkey, or with Redis 6.2 or later',
  });
  expect(found('postgresql version')).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/^PostgreSQL \d+\.\d+ lacks features that cardpoll needs$/),
    hint: 'upgrade it to PostgreSQL 14 or later',
  });
  const updated = { CARDPOLL_REDIS_URL: redis.url, CARDPOLL_DATABASE_URL: databaseUrl };
  const { statusOf } = await runDoctor(await surroundings(updated));
  expect([statusOf('redis version'), statusOf('postgresql version')]).toEqual(['ok', 'ok']);
});

it("a clock that is off: the command sets it, here in the place of the machine's time service", async () => {
  const time = new FakeTime(15_000);
  // This machine's clock, as the doctor sees it; those of the servers are right.
  const env = {
    CARDPOLL_DATABASE_URL: await emptyDatabase(),
    ...time.env,
  };
  const item = await find('redis clock', env, spawnDoctor);
  expect([item.status, item.detail]).toEqual(['failed', expect.stringMatching(/^-1[45]\d\d\d ms/)]);
  expect((await find('postgresql clock', env, spawnDoctor)).status).toBe('failed');
  typeCommand(item.command, {}, { timedatectl: `[ "$*" = 'set-ntp true' ] && echo +0 > ${time.file}` });
  expect((await find('redis clock', env, spawnDoctor)).status).toBe('ok');
  expect((await find('postgresql clock', env, spawnDoctor)).status).toBe('ok');
});

/** The text as PostgreSQL sends a column that holds it: after its length. */
const column = (text: string) => `\0\0\0${String.fromCharCode(text.length)}${text}`;

/** The server at this URL, which says something else of the same length. @returns the URL it has then */
async function saysInstead(url: string, from: string | RegExp, to: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const relay = createServer((client) => {
    const server = connect({ host, port: Number(port) });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    client.pipe(server);
    server.on('data', (data) => client.write(data.toString('latin1').replace(from, to), 'latin1'));
  });
  closing.push(() => relay.close());
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const shown = new URL(url);
  shown.port = String((relay.address() as AddressInfo).port);
  return String(shown);
}

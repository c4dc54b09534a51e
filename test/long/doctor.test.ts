// `cardpoll doctor` against real stores, a real gateway and a real daemon: each finding provoked, and what it says to type
// typed, which heals it. Servers: doctor-servers.test.ts; how a daemon and its tokens begin: doctor-start.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { emptyDatabase, freshRedis } from '../support/fresh-stores.ts';
import { releaseOf } from '../support/other-release.ts';
import { query } from '../support/postgres-server.ts';
import { runCli, spawnCli, waitFor } from '../support/processes.ts';
import { asDocumentedUser } from '../support/redis-user.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { mountTinyDisk } from '../support/tiny-disk.ts';
import { typeCommand } from '../support/type-command.ts';

const directory = temporaryDirectory('doctor');
let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
  await fleet.startDaemon();
  await fleet.importCards(200);
  await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', 'https://hooks.example/cardpoll');
});
afterAll(() => {
  fleet.close();
});

function environment(): Record<string, string> {
  return {
    CARDPOLL_REDIS_URL: fleet.redisServer.url,
    CARDPOLL_DATABASE_URL: fleet.databaseUrl,
    CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
    CARDPOLL_URL: fleet.daemons[0]?.url ?? '',
    CARDPOLL_LOG_DIR: join(directory, 'logs'),
  };
}

const examine = (env: Record<string, string> = {}, ...args: string[]) =>
  runDoctor({ ...environment(), ...env }, ...args);

const type = (command: string | null | undefined, env: Record<string, string> = {}) =>
  typeCommand(command, { ...environment(), ...env });

/** One more daemon of the fleet. @param program of another release */
async function startOf(program: readonly [string, ...string[]] | undefined) {
  const listen = `127.0.0.1:${await freePort()}`;
  const env = { ...environment(), CARDPOLL_LOG_DIR: mkdtempSync(join(directory, 'logs-')) };
  const process = spawnCli(['daemon', '--listen', listen], {
    env: { ...env, CARDPOLL_URL: undefined },
    ...(program === undefined ? {} : { program }),
  });
  const url = `http://${listen}`;
  await waitFor(async () => !process.running || (await fetch(`${url}/readyz`)).ok, {
    what: 'the further daemon to be ready',
  });
  return { process, url };
}

/** Waits until the check is as it should be, and says how it is when it does not get so. */
const becomes = (check: string, status: string, env: Record<string, string> = {}) =>
  waitFor(async () => (await examine(env)).statusOf(check) === status, {
    what: `${check} to be ${status}`,
  });

describe('a fleet that is well', () => {
  it('has nothing to complain about', async () => {
    await becomes('scheduled cards', 'ok');
    const { code, report, found } = await examine();
    expect(report.items.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(report.items.map(({ check }) => check)).toEqual([
      'configuration',
      'redis',
      'redis rights',
      'redis maxmemory-policy',
      'redis version',
      'redis memory',
      'redis load',
      'redis replication',
      'redis clock',
      'postgresql',
      'postgresql version',
      'postgresql connections',
      'postgresql replication',
      'postgresql transactions',
      'migrations',
      'postgresql rights',
      'usage partitions',
      'postgresql size',
      'postgresql clock',
      'gateway realname',
      'gateway flow',
      'gateway card_status',
      'log directory',
      'redis fleet',
      'instances',
      'running counts',
      'scheduled cards',
      'stop mode',
      'alert rules',
      'cleanup',
      'daemon',
      'version',
    ]);
    expect([code, report.status]).toEqual([0, 'ok']);
    expect(found('scheduled cards')?.detail).toMatch(/^(1\d\d|200) cards checked, all/);
    expect(await fleet.truth()).toMatchObject({ stops: {} });
  });

  it('is judged on a client by its daemon alone', async () => {
    const { code, report } = await runDoctor({ CARDPOLL_URL: `${fleet.daemons[0]?.url}` });
    expect([code, report.items.map(({ check }) => check)]).toEqual([0, ['daemon', 'version']]);
  });
});

describe('surroundings', () => {
  it('all surroundings are away: each is found, with what to do', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const nowhere = `127.0.0.1:${await freePort()}`;
    const { code, report, found, statusOf } = await examine({
      CARDPOLL_REDIS_URL: `redis://${nowhere}`,
      CARDPOLL_DATABASE_URL: `postgres://user@${nowhere}/db`,
      CARDPOLL_GATEWAY_URL: `http://${nowhere}`,
      CARDPOLL_LOG_DIR: file,
    });
    expect([code, report.status]).toEqual([1, 'failed']);
    for (const check of ['redis', 'postgresql', 'gateway flow', 'log directory']) {
      expect([check, statusOf(check)]).toEqual([check, 'failed']);
      expect(`${found(check)?.hint}`).toMatch(/\w/);
    }
    expect(statusOf('migrations')).toBe('skipped');
    expect(statusOf('fleet')).toBe('skipped');
  });

  it('a Redis that evicts: the command sets the policy', async () => {
    const evicting = await freshRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    const env = { CARDPOLL_REDIS_URL: evicting.url };
    const { code, found, statusOf } = await examine(env);
    expect([code, statusOf('redis')]).toEqual([1, 'ok']);
    expect(found('redis maxmemory-policy')?.status).toBe('failed');
    type(found('redis maxmemory-policy')?.command);
    expect((await examine(env)).statusOf('redis maxmemory-policy')).toBe('ok');
  });

  it('a Redis that is nearly full: the command gives it more', async () => {
    const tight = await freshRedis({ args: ['--maxmemory', '1mb'] });
    const env = { CARDPOLL_REDIS_URL: tight.url };
    const { code, found } = await examine(env);
    expect([code, found('redis memory')?.status]).toEqual([1, 'failed']);
    type(found('redis memory')?.command);
    expect((await examine(env)).statusOf('redis memory')).toBe('ok');
  });

  it('a Redis that is a replica: the command makes it a master', async () => {
    const [master, replica] = [await freshRedis(), await freshRedis()];
    const { port } = new URL(master.url);
    type(`redis-cli -u ${replica.url} REPLICAOF 127.0.0.1 ${port}`);
    const env = { CARDPOLL_REDIS_URL: replica.url };
    const { found } = await examine(env);
    expect(found('redis replication')?.status).toBe('failed');
    type(found('redis replication')?.command);
    expect((await examine(env)).statusOf('redis replication')).toBe('ok');
  });

  it('more connections than PostgreSQL grants', async () => {
    const { code, found } = await examine({ CARDPOLL_DATABASE_MAX_CONNECTIONS: '1000' });
    expect([code, found('postgresql connections')?.status]).toEqual([1, 'failed']);
    expect(found('postgresql connections')?.command).toMatch(
      /^psql 'postgres:.*' -c 'ALTER SYSTEM SET max_connections = \d+'$/,
    );
  });

  it('a database that takes no writes', async () => {
    const url = await emptyDatabase();
    await runCli(['migrate', 'up'], { env: { CARDPOLL_DATABASE_URL: url } });
    const name = new URL(url).pathname.slice(1);
    await query(url, `ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    const { code, statusOf } = await examine({ CARDPOLL_DATABASE_URL: url });
    expect([code, statusOf('postgresql replication')]).toEqual([1, 'failed']);
  });

  it('a web server that is no gateway, although it answers', async () => {
    const { code, found } = await examine({ CARDPOLL_GATEWAY_URL: fleet.daemons[0]?.url ?? '' });
    expect(code).toBe(1);
    expect(found('gateway flow')).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/POST .*\/card\/flow: HTTP 404/),
    });
  });

  it('tables that do not answer: the gateway is judged all the same', async () => {
    const url = await emptyDatabase();
    await runCli(['migrate', 'up'], { env: { CARDPOLL_DATABASE_URL: url } });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('ALTER TABLE cards RENAME TO lost_cards');
    // As in a copy: the doctor looks at no fleet in the Redis of another one.
    const [id] = `${await fleet.redis.get('polling:fleet')}`.split(' ');
    await client.query('UPDATE fleet SET fleet_id = $1', [id]);
    await client.end();
    const { report, statusOf } = await examine({ CARDPOLL_DATABASE_URL: url });
    expect(statusOf('gateway flow')).toBe('ok');
    expect(report.items.filter(({ detail }) => detail.includes('"cards"'))).not.toEqual([]);
  });

  it('a disk that is full: the command shows the largest files', async () => {
    const disk = await mountTinyDisk(1024);
    const env = { ...disk.env, CARDPOLL_LOG_DIR: disk.path };
    try {
      writeFileSync(join(disk.path, 'old.log'), Buffer.alloc(1_040_000));
      const { code, found } = await examine(env);
      expect([code, found('log directory')?.status]).toEqual([1, 'failed']);
      const [biggest] = type(found('log directory')?.command).match(/\S+old\.log$/m) ?? [];
      expect(biggest).toBe(join(disk.path, 'old.log'));
      rmSync(`${biggest}`);
      expect((await examine(env)).statusOf('log directory')).toBe('ok');
    } finally {
      await disk.remove();
    }
  });

  it('the embedded stores are for trying out', async () => {
    const { code, found, statusOf } = await examine({
      CARDPOLL_REDIS_URL: '',
      CARDPOLL_DATABASE_URL: '',
      CARDPOLL_DATA_DIR: join(directory, 'new', 'data'),
    });
    expect([code, statusOf('redis')]).toEqual([0, 'warning']);
    expect(found('data directory')?.detail).toMatch(/can be created in/);
  });

  it('a server that hides its memory: the finding says that it is unknown', async () => {
    const closed = await freshRedis();
    type(`redis-cli -u ${closed.url} ACL SETUSER default -info`);
    const { code, report, statusOf } = await examine({ CARDPOLL_REDIS_URL: closed.url });
    expect([code, report.status, statusOf('redis memory')]).toEqual([2, 'unknown', 'unknown']);
  });

  it('a user that lacks a right: the command grants it', async () => {
    const server = await freshRedis();
    const env = { CARDPOLL_REDIS_URL: await asDocumentedUser(server.url, [server.url], '-hset') };
    const { code, found } = await examine(env);
    expect([code, found('redis rights')?.detail]).toEqual([1, 'its user lacks +hset, so nothing is polled']);
    type(found('redis rights')?.command);
    expect((await examine(env)).statusOf('redis rights')).toBe('ok');
  });
});

describe('a fleet that is not well', () => {
  it('no alert rules: the command makes them, and the hint gives them a webhook', async () => {
    const { items } = await fleet.get<{ items: { id: number }[] }>(
      '/api/admin/polling-alert-rules?page_size=100',
    );
    for (const { id } of items) await fleet.cli('alerts', 'rules', 'delete', String(id), '--yes');
    const { code, found } = await examine();
    expect([code, found('alert rules')?.status]).toEqual([0, 'warning']);
    type(found('alert rules')?.command);
    const silent = (await examine()).found('alert rules');
    expect(silent).toMatchObject({ status: 'warning', detail: expect.stringMatching(/none has a webhook/) });
    const [, printed] = /^`(.*)` gives them one$/.exec(`${silent?.hint}`) ?? [];
    type(printed?.replace('URL', 'https://hooks.example/cardpoll'));
    expect((await examine()).statusOf('alert rules')).toBe('ok');
  });

  it('a cleanup that never ran: the command runs it', async () => {
    const env = { CARDPOLL_CLEANUP_SCHEDULE: 'off' };
    const { found } = await examine(env);
    expect(found('cleanup')?.status).toBe('warning');
    type(found('cleanup')?.command);
    expect((await examine(env)).statusOf('cleanup')).toBe('ok');
  });

  it('cards missing in their rings: the command brings them back', async () => {
    const rings = await fleet.redis.keys('polling:ring:realname:*:*:*');
    expect(rings.length).toBeGreaterThan(0);
    await fleet.redis.del(...rings);
    const { code, found } = await examine();
    expect([code, found('scheduled cards')?.status]).toEqual([1, 'failed']);
    type(found('scheduled cards')?.command);
    await becomes('scheduled cards', 'ok');
  });

  it('a pause: the command ends it', async () => {
    await fleet.cli('pause', 'realname', '--for', '1h', '--reason', 'maintenance');
    const { found } = await examine();
    expect(found('paused')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/^realname: paused by .* maintenance( \(since \S+Z\))?$/),
    });
    type(found('paused')?.command);
    expect((await examine()).statusOf('paused')).toBeUndefined();
  });

  it('instances of two versions: the command shows which is behind', async () => {
    const program = releaseOf('0.0.9', directory);
    const older = await startOf(program);
    const { code, found } = await examine();
    expect([code, found('instances')]).toMatchObject([
      0,
      { status: 'warning', detail: expect.stringMatching(/^1 of \S+, 1 of \S+: mixed versions/) },
    ]);
    const listed = type(found('instances')?.command).split('\n');
    const behind = listed.filter((line) => line.includes(' 0.0.9 '));
    expect(behind).toEqual([expect.stringContaining(` ${older.process.pid} `)]);
    // The commands of the other release are told apart from the daemon too, and its own are not.
    const there = { CARDPOLL_URL: older.url };
    expect((await examine(there)).found('version')).toMatchObject({
      status: 'warning',
      hint: expect.stringMatching(/install the same version/),
    });
    const own = await runCli(['doctor'], { env: there, program });
    expect(own.stdout).toMatch(/^● ok +version: 0\.0\.9/m);
    await older.process.stop();
    const updated = await startOf(undefined);
    const { found: now } = await examine();
    expect(now('instances')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^2 of/) });
    await updated.process.stop();
  });

  it('a planted counter: the leader is frozen, wakes and the command heals it', async () => {
    const daemon = fleet.daemons[0];
    if (daemon === undefined) throw new Error('no daemon');
    daemon.process.signal('SIGSTOP');
    try {
      await fleet.redis.set('polling:concurrency:current:package', 500);
      const { code, found } = await examine({ CARDPOLL_TIMEOUT_MS: '1000' });
      expect([code, found('running count of package')?.status]).toEqual([1, 'failed']);
      expect(found('running count of package')?.detail).toMatch(/^shows 500, but 0 calls run/);
      expect(found('daemon')?.status, 'a daemon that is there and silent').toBe('failed');
      daemon.process.signal('SIGCONT');
      type(found('running count of package')?.command);
    } finally {
      daemon.process.signal('SIGCONT');
    }
    await becomes('running counts', 'ok');
  });

  it('an initialisation without a leader: the command continues it', async () => {
    for (const { process } of fleet.daemons) process.signal('SIGKILL');
    await waitFor(async () => (await examine()).found('instances')?.detail === 'no instance is alive', {
      what: 'the instances to be given up',
    });
    const longAgo = new Date(Date.now() - 600_000).toISOString();
    await fleet.redis.hset('polling:init:progress', {
      status: 'running',
      finished_at: '',
      updated_at: longAgo,
      last_card_id: 100,
      loaded: 100,
    });
    const { code, found } = await examine();
    expect(code).toBe(1);
    expect(found('no_worker')?.command).toBe('cardpoll daemon --roles worker');
    expect(found('init_stuck')).toMatchObject({
      status: 'failed',
      command: 'cardpoll daemon --roles scheduler',
    });
    expect(found('daemon')).toMatchObject({ status: 'warning', command: 'cardpoll daemon' });
    const words = (found('init_stuck')?.command ?? '').split(' ').slice(1);
    const leader = spawnCli(words, { env: { ...environment(), CARDPOLL_URL: undefined } });
    try {
      await waitFor(
        async () => {
          const { report, found: now } = await examine();
          return now('init_stuck') === undefined && report.items.some(({ check }) => check === 'no_worker');
        },
        { what: 'the initialisation to go on' },
      );
    } finally {
      leader.signal('SIGKILL');
    }
  });
});

describe('a gateway that fails many calls', () => {
  it('the success rate names the reasons of the failed calls', async () => {
    const failing = await Fleet.start({ simulator: ['--failure-rate', '0.3'] });
    try {
      const daemon = await failing.startDaemon();
      await failing.importCards(200);
      await failing.setIntervals(1);
      const item = await waitFor(
        async () => {
          const { found } = await runDoctor({ CARDPOLL_URL: daemon.url });
          // In the first minute of a fleet it is a warning.
          return found('success_rate')?.status === 'failed' ? found('success_rate') : null;
        },
        { what: 'the success rate to fall' },
      );
      expect(item).toMatchObject({
        detail: expect.stringMatching(/^\w+: [\d.]+ % of polls succeed; failures: http \d+/),
        command: 'cardpoll stats failures',
      });
    } finally {
      failing.close();
    }
  });
});

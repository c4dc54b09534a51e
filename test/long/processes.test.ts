// `daemon --processes N`: several processes that are to the outside what one is, also when one of them dies, freezes or is
// told to end, and when their supervisor is killed.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { NotifyReceiver } from '../support/notify-socket.ts';
import { runCli, spawnCli, waitFor } from '../support/processes.ts';
import { holdsRotatedFile } from '../support/shipped-logrotate.ts';

const CARDS = 300;

let fleet: Fleet;
let manager: NotifyReceiver;
let daemon: Daemon;

beforeAll(async () => {
  fleet = await Fleet.start({ simulator: ['--latency-ms', '30'] });
  const address = join(fleet.dir, 'notify');
  manager = await NotifyReceiver.open(address);
  setLogLevel('info');
  daemon = await fleet.startDaemon({
    CARDPOLL_CONFIG: configFile(),
    CARDPOLL_PROCESSES: '3',
    NOTIFY_SOCKET: address,
    WATCHDOG_USEC: '30000000',
  });
  await fleet.setLimits(40);
  await fleet.setIntervals(2);
  await fleet.importCards(CARDS);
});
afterAll(() => fleet.close());

const configFile = () => join(fleet.dir, 'cardpoll.yaml');
const setLogLevel = (level: string) => writeFileSync(configFile(), `log_level: ${level}\n`);

interface Instance {
  readonly pid: number;
  readonly roles: readonly string[];
  readonly probe_address: string | null;
}

const instances = async () => (await fleet.get<{ workers: Instance[] }>('/api/admin/polling-stats')).workers;
const children = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(status(pid));
const status = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8');
const readyz = async () => {
  const response = await fetch(`${daemon.url}/readyz`);
  return { code: response.status, text: await response.text() };
};

const stores = () => ({
  CARDPOLL_REDIS_URL: fleet.redisServer.url,
  CARDPOLL_DATABASE_URL: fleet.databaseUrl,
  CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
});

/** Ends when all processes, and their supervisor, have read their configuration anew. */
async function reload(): Promise<void> {
  const from = manager.messages.length;
  daemon.process.signal('SIGHUP');
  await manager.waitFor(/^RELOADING=1$/, { from });
  await manager.waitFor(/^READY=1$/, { from });
}

/** A task type, as operators see it. */
const slotsHeld = () =>
  fleet.redis.mget(TASK_TYPES.map((taskType) => `polling:concurrency:current:${taskType}`));

/** The process with this number, by the environment the supervisor gave it. */
function processNumber(number: number): number {
  const pid = children(daemon.process.pid).find((child) =>
    readFileSync(`/proc/${child}/environ`, 'utf8').split('\0').includes(`SUPERVISED_PROCESS=${number}`),
  );
  if (pid === undefined) throw new Error(`process ${number} does not run`);
  return pid;
}

async function killAndWait(number: number): Promise<void> {
  const killed = processNumber(number);
  process.kill(killed, 'SIGKILL');
  await waitFor(() => processNumber(number) !== killed, { what: `process ${number} to be there again` });
  await waitFor(async () => (await readyz()).code === 200, { what: 'all to be ready again' });
}

describe('--processes 3', () => {
  it('is three instances: one serves, all poll, and one readiness speaks for them', async () => {
    const workers = await waitFor(async () => ((await instances()).length === 3 ? instances() : null));
    expect(workers.map(({ pid }) => pid).sort()).toEqual(children(daemon.process.pid).sort());
    expect(workers.filter(({ roles }) => roles.includes('api'))).toHaveLength(1);
    expect(workers.every(({ roles }) => roles.includes('worker'))).toBe(true);
    expect(workers.filter((one) => one.probe_address !== null)).toHaveLength(1);
    await manager.waitFor(/^READY=1$/);
    await manager.waitFor(/^STATUS=3 of 3 processes work$/);
    expect(manager.count('READY=1')).toBe(1);
  });

  it('tells the metrics of each by a label, those of the fleet once', async () => {
    const page = await waitFor(async () => {
      const text = await (await fetch(`${daemon.url}/metrics`)).text();
      return /resident_memory_bytes\{process="2"\}/.test(text) ? text : null;
    });
    const labels = page
      .match(/^cardpoll_process_resident_memory_bytes.*$/gm)
      ?.map((line) => line.split(' ')[0]);
    expect(labels).toEqual([0, 1, 2].map((n) => `cardpoll_process_resident_memory_bytes{process="${n}"}`));
    expect(page.match(/^cardpoll_leader\{process="0"\} 1$/m)).toBeTruthy();
    expect(page.match(/^cardpoll_queue_length\{task_type="realname"\} /gm)).toHaveLength(1);
  });

  it('starts again the one that is killed and the one that is frozen, and says so meanwhile', async () => {
    const [frozen, killed] = [processNumber(1), processNumber(2)];
    process.kill(frozen, 'SIGSTOP');
    process.kill(killed, 'SIGKILL');
    await waitFor(async () => {
      const { code, text } = await readyz();
      return code === 503 && text.includes('process 2: ended, is started again');
    });
    await waitFor(() => processNumber(2) !== killed, { what: 'process 2 to be there again' });
    await waitFor(() => processNumber(1) !== frozen, {
      what: 'process 1 to be replaced',
    });
    await waitFor(async () => (await readyz()).code === 200, { what: 'all to be ready again' });
    await expect
      .poll(() => fleet.logged('a process ended unasked and is started again'))
      .toMatchObject([
        { level: 'error', process: 2, signal: 'SIGKILL', restart_in_ms: 1_000 },
        { process: 1, signal: 'SIGKILL' },
      ]);
    await expect
      .poll(() => fleet.logged('stuck process killed'))
      .toMatchObject([{ process: 1, pid: frozen }]);
    expect(manager.assignments.filter((one) => one === 'STOPPING=1')).toEqual([]);
  });

  it('reopens all logs on one SIGHUP, and no line is torn', async () => {
    const before = (await fleet.logged('configuration reloaded')).length;
    for (const name of ['worker', 'api', 'access']) {
      renameSync(join(daemon.logDir, `${name}.log`), join(daemon.logDir, `${name}.log-1`));
    }
    await reload();
    // Parses every line. A line may wait for a moment until it is written.
    await waitFor(async () => (await fleet.logged('configuration reloaded')).length === before + 3);
    const all = [daemon.process.pid, ...children(daemon.process.pid)];
    await waitFor(() => !all.some(holdsRotatedFile), { what: 'the rotated files to be let go' });
  });

  it('the supervisor takes another log level too, and keeps its own where the file is broken', async () => {
    const message = 'all processes are ready';
    // Who is killed with a call in flight keeps its slot until the lease ends: the next test wants none of these.
    await fleet.cli('pause', '--yes');
    await waitFor(async () => (await slotsHeld()).every((held) => held === '0'), { what: 'calls to end' });
    setLogLevel('error');
    await reload();
    setLogLevel('nonsense');
    await reload();
    const refused = () => fleet.logged('configuration not reloaded, the present one stays in force');
    await waitFor(async () => (await refused()).length === 3, { what: 'each process to say so' });
    const before = (await fleet.logged(message)).length;
    expect(before, 'at the start, and when the killed ones were back').toBeGreaterThan(1);
    setLogLevel('error'); // what is started again reads it
    await killAndWait(2);
    expect(await fleet.logged(message)).toHaveLength(before);
    setLogLevel('info');
    await reload();
    await killAndWait(1);
    await waitFor(async () => (await fleet.logged(message)).length === before + 1, {
      what: 'a line of the supervisor',
    });
    await fleet.cli('resume');
  });

  it('SIGTERM under load: all drain, nothing is lost, the exit code is 0', async () => {
    await waitFor(async () => (await fleet.truth()).in_flight > 5, { what: 'calls in flight' });
    const pids = children(daemon.process.pid);
    expect(await daemon.process.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(pids.filter(isAlive)).toEqual([]);
    await manager.waitFor(/^STOPPING=1$/);
    expect(await slotsHeld()).toEqual(['0', '0', '0']);
    expect(await fleet.logged('drain took too long: leases will end by themselves')).toEqual([]);
    expect((await fleet.truth()).in_flight).toBe(0);
  });
});

it('logs whole lines to standard output; a supervisor that is killed takes its processes with it', async () => {
  const args = ['daemon', '--processes', '2', '--listen', `127.0.0.1:${await freePort()}`];
  const supervisor = spawnCli(args, { env: stores() });
  await supervisor.waitForLine(/"all processes are ready"/);
  const pids = children(supervisor.pid);
  expect(pids).toHaveLength(2);
  await waitFor(() => supervisor.stdout.match(/"轮询调度器启动"/g)?.length === 2, { what: 'a line of each' });
  const { stdout } = await supervisor.stop('SIGKILL');
  await waitFor(() => !pids.some(isAlive), { what: 'its processes to end' });
  const whole = stdout.slice(0, stdout.lastIndexOf('\n')).split('\n');
  for (const line of whole) expect(JSON.parse(line)).toHaveProperty('msg');
});

describe('what cannot work ends at once with its own exit code', () => {
  it('embedded stores, which live in one process', async () => {
    const args = ['daemon', '--processes', '2', '--data-dir', ':memory:'];
    const result = await runCli(args, { env: { CARDPOLL_GATEWAY_URL: fleet.gatewayUrl } });
    expect(result).toMatchObject({ code: 78, stderr: expect.stringContaining('embedded stores') });
  });

  it('processes without the role worker', async () => {
    const args = ['daemon', '--processes', '2', '--roles', 'api'];
    expect(await runCli(args, { env: stores() })).toMatchObject({ code: 78 });
  });

  it('an address the first process cannot use: told once', async () => {
    const env = { ...stores(), CARDPOLL_ADMIN_TOKENS: 'viewer:0123456789abcdef' };
    const args = [
      'daemon',
      '--processes',
      '2',
      '--listen',
      '203.0.113.7:7480',
      '--log-dir',
      join(fleet.dir, 'bad'),
    ];
    const { code, stderr } = await runCli(args, { env });
    expect(code).toBe(78);
    expect(stderr.match(/cannot listen on/g)).toHaveLength(1);
  });
});

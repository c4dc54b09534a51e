// The daemon under a service manager: a real notify socket gets what systemd would get, and is told the truth.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { NotifyReceiver } from '../support/notify-socket.ts';
import { runCli, waitFor } from '../support/processes.ts';

const WATCHDOG_USEC = '3000000';
const STOP_TIMERS = new URL('../support/stop-timers.mjs', import.meta.url);

let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
});
afterAll(() => fleet.close());

let sockets = 0;
async function receiver(): Promise<{ address: string; manager: NotifyReceiver }> {
  sockets += 1;
  const address = join(fleet.dir, `notify-${sockets}`);
  return { address, manager: await NotifyReceiver.open(address) };
}

describe('a notify socket', () => {
  it('learns of readiness, beats, a reload and the end, in this order', async () => {
    const { address, manager } = await receiver();
    const config = join(fleet.dir, 'notified.yaml');
    writeFileSync(config, 'log_level: info\n');
    const { process: daemon } = await fleet.startDaemon({
      NOTIFY_SOCKET: address,
      WATCHDOG_USEC,
      CARDPOLL_CONFIG: config,
    });
    await manager.waitFor(/^READY=1$/);
    await manager.waitFor(/^STATUS=works; leads the fleet$/);
    await waitFor(() => manager.count('WATCHDOG=1') > 3, { what: 'beats' });
    expect(manager.assignments.some((one) => /^(RELOADING|STOPPING)=/.test(one))).toBe(false);

    let from = manager.messages.length;
    const now = Number(process.hrtime.bigint() / 1_000n);
    daemon.signal('SIGHUP');
    await manager.waitFor(/^RELOADING=1$/, { from });
    const since = await manager.waitFor(/^MONOTONIC_USEC=\d+$/, { from });
    expect(Number(since.split('=')[1])).toBeGreaterThanOrEqual(now);
    await manager.waitFor(/^READY=1$/, { from });

    // A broken file is told in the log; the service is ready again all the same, with what it had.
    from = manager.messages.length;
    writeFileSync(config, 'log_level: nonsense\n');
    daemon.signal('SIGHUP');
    await manager.waitFor(/^RELOADING=1$/, { from });
    await manager.waitFor(/^READY=1$/, { from });

    from = manager.messages.length;
    expect((await daemon.stop()).code).toBe(0);
    await manager.waitFor(/^STOPPING=1$/, { from });
    const extended = await manager.waitFor(/^EXTEND_TIMEOUT_USEC=\d+$/, { from });
    expect(Number(extended.split('=')[1])).toBeGreaterThan(30_000_000);
    expect(manager.messages.at(-1)).toContain('STOPPING=1');
  });

  it('may have an abstract name; a watchdog meant for another process gets no beats', async () => {
    const address = `@cardpoll-test-${process.pid}`;
    const manager = await NotifyReceiver.open(address);
    const env = { NOTIFY_SOCKET: address, WATCHDOG_USEC: '300000', WATCHDOG_PID: '1' };
    const { process: daemon } = await fleet.startDaemon(env);
    await manager.waitFor(/^READY=1$/);
    await daemon.stop();
    await manager.waitFor(/^STOPPING=1$/);
    expect(manager.count('WATCHDOG=1')).toBe(0);
  });

  it('an impossible notify socket ends the daemon with 78', async () => {
    const env = { NOTIFY_SOCKET: 'relative\u001b[2J', CARDPOLL_GATEWAY_URL: fleet.gatewayUrl };
    const result = await runCli(['daemon', '--data-dir', ':memory:'], { env });
    expect(result).toMatchObject({ code: 78, stderr: expect.stringContaining('NOTIFY_SOCKET') });
    expect(result.stderr).not.toContain('\u001b');
  });

  it('hears no beat any more when the claim loops are stuck, and goes on hearing it while Redis is away', async () => {
    const [stuck, cutOff] = [await receiver(), await receiver()];
    const flag = join(fleet.dir, 'stop-timers');
    const one = await fleet.startDaemon({
      NOTIFY_SOCKET: stuck.address,
      WATCHDOG_USEC,
      NODE_OPTIONS: `--import ${STOP_TIMERS.href}`,
      STOP_TIMERS: flag,
    });
    const other = await fleet.startDaemon({ NOTIFY_SOCKET: cutOff.address, WATCHDOG_USEC });
    fleet.redisServer.pause();
    writeFileSync(flag, '');
    try {
      await stuck.manager.waitFor(/^STATUS=stuck: .*worker-realname/);
      // What systemd does with WatchdogSec: it sees the time run out, ends the process and starts it anew.
      await waitFor(() => performance.now() - stuck.manager.lastBeatAt > Number(WATCHDOG_USEC) / 1_000, {
        what: 'the watchdog to run out',
      });
      await one.process.stop('SIGABRT');
      expect(await cutOff.manager.waitFor(/^STATUS=.*no answer to a claim/)).toBeTruthy();
      const beats = cutOff.manager.count('WATCHDOG=1');
      await waitFor(() => cutOff.manager.count('WATCHDOG=1') > beats + 10, { what: 'beats all the same' });
      expect(cutOff.manager.assignments.filter((text) => text.startsWith('STATUS=stuck'))).toEqual([]);
    } finally {
      fleet.redisServer.resume();
    }
    await other.process.stop();
  });
});

it('a SIGHUP long before the daemon is ready is remembered, and ends nothing', async () => {
  const before = fleet.daemons.length;
  const logDir = join(fleet.dir, `logs-${before}`);
  const starting = fleet.startDaemon();
  const { pid } = await waitFor(() => fleet.daemons[before]?.process, { what: 'the process' });
  await waitFor(() => catchesHangups(pid), { what: 'a listener for SIGHUP' });
  expect(existsSync(logDir)).toBe(false);
  process.kill(pid, 'SIGHUP');
  const { process: daemon } = await starting;
  await waitFor(() => /"configuration reloaded"/.test(readFileSync(join(logDir, 'worker.log'), 'utf8')), {
    what: 'the reload',
  });
  await daemon.stop();
});

/** SigCgt is a bit a signal; SIGHUP is the first. */
function catchesHangups(pid: number): boolean {
  const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}

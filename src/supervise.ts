// Runs a daemon: as one process, as several processes under a supervisor (`processes`), or as one of these. The
// composition root of the supervisor; wiring.ts is the one of each process. Called by main.ts.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { EXIT_BUG } from './cli/exit-codes.ts';
import type { DaemonConfig } from './config/daemon-config.ts';
import { linesOf } from './platform/lines.ts';
import { type Logs, openLogs } from './platform/logger.ts';
import { onSignal, untilStopped } from './signals.ts';
import { type Overseer, PROCESS_NUMBER } from './supervision/messages.ts';
import { openServiceManager } from './supervision/service-manager.ts';
import { Supervisor } from './supervision/supervisor.ts';
import { type Channel, SupervisorLink } from './supervision/supervisor-link.ts';
import { type DaemonSurroundings, endsWithinMs, runDaemon } from './wiring.ts';

interface DaemonStart extends Omit<DaemonSurroundings, 'overseer' | 'link'> {
  readonly config: DaemonConfig;
}

type OwnProcess = Channel & Pick<NodeJS.Process, 'env' | 'execPath' | 'execArgv' | 'argv'>;

/** Runs until SIGTERM or SIGINT. @returns the exit code. */
export async function superviseOrRun(start: DaemonStart, own: OwnProcess): Promise<number> {
  const { config, ...surroundings } = start;
  const number = own.env[PROCESS_NUMBER];
  if (number !== undefined && own.send !== undefined) {
    const link = new SupervisorLink(Number(number), own, () => start.hangups.come());
    return runDaemon(config, { ...surroundings, overseer: link, link });
  }
  const overseer = await openServiceManager(own.env, own.pid);
  return config.processes === 1
    ? runDaemon(config, { ...surroundings, overseer, link: null })
    : runSupervisor(start, own, overseer);
}

async function runSupervisor(
  { config, load, hangups }: DaemonStart,
  own: OwnProcess,
  overseer: Overseer | null,
): Promise<number> {
  const stopped = untilStopped();
  // SIGUSR1 would open Node's inspector on a port of its own.
  onSignal('SIGUSR1', () => {});
  const logs = openLogs({ dir: config.logDir, level: config.logLevel, shared: true });
  const takeLogLevel = async () => {
    // Each process reports an invalid configuration; here the level stays unchanged.
    const anew = await load().catch(() => null);
    if (anew !== null) logs.setLevel(anew.logLevel);
  };
  const supervisor = new Supervisor({
    processes: config.processes,
    spawn: (number) => spawnProcess(number, config, own, logs),
    overseer,
    endsWithinMs: endsWithinMs(config),
    brokenCode: EXIT_BUG,
    log: logs.worker,
  });
  const unhandle = hangups.handle(() => {
    logs.reopen();
    void supervisor.reload(takeLogLevel);
  });
  try {
    return await supervisor.run(stopped);
  } finally {
    unhandle();
    await logs.close();
  }
}

/** All processes poll; only process 0 has the other roles. Environment and config file apply to each of them. */
function spawnProcess(number: number, config: DaemonConfig, own: OwnProcess, logs: Logs): ChildProcess {
  const roles = number === 0 ? [] : ['--roles', 'worker'];
  const { NOTIFY_SOCKET: _, WATCHDOG_USEC: _1, WATCHDOG_PID: _2, ...env } = own.env;
  const args = [...own.execArgv, ...own.argv.slice(1), '--processes', '1', ...roles];
  const child = spawn(own.execPath, args, {
    env: { ...env, [PROCESS_NUMBER]: String(number) },
    stdio: ['ignore', config.logDir === null ? 'pipe' : 'ignore', 'inherit', 'ipc'],
  });
  // Its output fails only together with the process, which the supervisor notices.
  if (child.stdout !== null) passLines(child.stdout, logs).catch(() => {});
  return child;
}

/** Several writers would mix their lines in a pipe, so one process writes all lines. */
async function passLines(output: Readable, logs: Logs): Promise<void> {
  for await (const lines of linesOf(output)) for (const line of lines) logs.pass(`${line}\n`);
}

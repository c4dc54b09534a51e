// Every child process of the tests is spawned here. A child never outlives its test file: endOwnedProcesses() ends what
// is left by pid, an exit handler does so when the process ends otherwise, and util-linux's `setpriv --pdeathsig` (part
// of every Debian) lets the kernel do it when the test process is killed with SIGKILL.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { waitFor } from './wait-for.ts';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface OwnedProcessOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'stdio'> {
  /** The user to run as; only root can choose another one. */
  readonly owner?: Owner | undefined;
}

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
const owned = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of owned) child.kill('SIGKILL');
});

/** Spawns a child that is ended with the test file. With setpriv the pid is the command's own (it execs). */
export function spawnOwned(
  command: string,
  args: readonly string[],
  options: OwnedProcessOptions,
): ChildProcess {
  const { owner, ...rest } = options;
  const child =
    SETPRIV === undefined
      ? spawn(command, args, { ...rest, ...owner })
      : spawn(SETPRIV, [...userArgs(owner), '--pdeathsig', 'SIGKILL', '--', command, ...args], rest);
  owned.add(child);
  child.once('close', () => owned.delete(child));
  child.once('error', () => owned.delete(child));
  return child;
}

export function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Sends `signal`, then SIGKILL after the grace period; resolves when the process is gone. Also ends a stopped one. */
export async function endProcess(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGTERM',
  graceMs = 120_000,
): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  child.kill('SIGCONT');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}

/** Ends every child still running, by pid. */
export async function endOwnedProcesses(): Promise<void> {
  for (const child of owned) {
    child.kill('SIGKILL');
  }
  await waitFor(() => owned.size === 0, { what: 'the last child processes to end' });
}

function userArgs(owner: Owner | undefined): string[] {
  return owner === undefined
    ? []
    : ['--reuid', String(owner.uid), '--regid', String(owner.gid), '--clear-groups'];
}

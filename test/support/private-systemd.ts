// A systemd of its own for a test: PID 1 of new namespaces, on an overlay of this machine's root, with this build and the shipped
// units or, for a test that installs a package, without. Needs root, and a kernel that lets it: bootSystemd() resolves with null
// where that is not so.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endProcess, spawnOwned } from './owned-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { waitFor } from './wait-for.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BOOT = fileURLToPath(new URL('./boot-systemd.sh', import.meta.url));
const NAMESPACES = ['--mount', '--pid', '--cgroup', '--uts', '--ipc'];
const run = promisify(execFile);

export interface PrivateSystemd {
  /** Runs a command beside PID 1 and resolves with what it printed; rejects when it fails. */
  sh(script: string): Promise<string>;
  stop(): Promise<void>;
}

/** @param cardpoll whether it finds this build installed, or nothing of cardpoll. */
export async function bootSystemd(
  cardpoll: 'installed' | 'absent' = 'installed',
): Promise<PrivateSystemd | null> {
  if (process.getuid?.() !== 0 || !existsSync('/lib/systemd/systemd'))
    return without('it needs root, and the package systemd');
  const dir = temporaryDirectory('systemd');
  const cgroups = ownGroups().map((path) => `${path}/cardpoll-test-${process.pid}`);
  try {
    for (const cgroup of cgroups) mkdirSync(cgroup);
  } catch (error) {
    await removed(cgroups);
    return without(String(error));
  }
  const enter = cgroups.map((cgroup) => `echo $$ >${cgroup}/cgroup.procs && `).join('');
  const boot = [...NAMESPACES, '--fork', '--kill-child', 'sh', BOOT, dir, cardpoll, ROOT, process.execPath];
  const child = spawnOwned('sh', ['-c', `${enter} exec unshare "$@"`, 'sh', ...boot], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const sh = async (command: string) => {
    const { stdout } = await run('nsenter', [...inside(initOf(child.pid)), 'sh', '-c', command]);
    return stdout.trim();
  };
  const stop = async () => {
    await endProcess(child, 'SIGKILL');
    await waitFor(() => removed(cgroups), { what: 'the control groups to be empty' });
  };
  const up = () => sh('systemctl is-system-running').then((state) => state === 'running');
  try {
    await waitFor(async () => child.exitCode !== null || (await up()), { what: 'systemd to be up' });
    if (child.exitCode === null) return { sh, stop };
  } catch (error) {
    errors += String(error);
  }
  await stop();
  return without(errors.trim());
}

/** Whoever reads the results is told what was not tested. */
function without(why: string): null {
  process.stderr.write(`no private systemd can be started here: ${why}\n`);
  return null;
}

/** The control groups of this process, in whose place systemd sees the root: below them it makes its own, in every hierarchy. */
function ownGroups(): string[] {
  const mounted = '/sys/fs/cgroup';
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  const groups = lines.map((line) => {
    const [, controllers = '', path = ''] = line.split(':');
    const unified = existsSync(`${mounted}/unified`) ? '/unified' : '';
    return `${mounted}${controllers === '' ? unified : `/${controllers.replace('name=', '')}`}${path}`;
  });
  // One of version 1 for CPU sets takes no process until it is set up; systemd leaves it alone.
  return groups.filter((path) => !path.includes('cpuset') && existsSync(`${path}/cgroup.procs`));
}

/** PID 1 of the namespaces: the one child of unshare. */
function initOf(unshare = 0): string {
  return readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim();
}

function inside(pid: string): string[] {
  return ['-t', pid, ...NAMESPACES, '--root', '--wd', '--'];
}

/** Removes the control groups that systemd made, from the innermost on. */
async function removed(cgroups: readonly string[]): Promise<boolean> {
  await run('find', [...cgroups, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']).catch(() => {});
  return !cgroups.some((path) => existsSync(path));
}

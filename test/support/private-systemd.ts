// A systemd of its own for a test: PID 1 of new namespaces, on an overlay of this machine's root, with the shipped units. Needs
// root, and a kernel that lets it: bootSystemd() resolves with null where that is not so.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endProcess, spawnOwned } from './owned-process.ts';
import { waitFor } from './wait-for.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BOOT = fileURLToPath(new URL('./boot-systemd.sh', import.meta.url));
const NAMESPACES = ['--mount', '--pid', '--cgroup', '--uts', '--ipc'];
/** Where the hierarchy is in which systemd keeps its units: the named one of version 1, or the only one of version 2. */
const HIERARCHY = ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup'].find((path) =>
  existsSync(`${path}/cgroup.procs`),
);

const run = promisify(execFile);

export interface PrivateSystemd {
  /** Runs a command beside PID 1 and resolves with what it printed; rejects when it fails. */
  sh(script: string): Promise<string>;
  stop(): Promise<void>;
}

export async function bootSystemd(): Promise<PrivateSystemd | null> {
  if (process.getuid?.() !== 0 || HIERARCHY === undefined || !existsSync('/lib/systemd/systemd')) return null;
  const dir = mkdtempSync(join(tmpdir(), 'cardpoll-systemd-'));
  const cgroup = `${HIERARCHY}/cardpoll-test-${process.pid}`;
  try {
    mkdirSync(cgroup);
  } catch {
    return null;
  }
  const script = 'echo $$ >"$0/cgroup.procs" && exec unshare "$@"';
  const boot = [...NAMESPACES, '--fork', '--kill-child', 'sh', BOOT, dir, ROOT, process.execPath];
  const child = spawnOwned('sh', ['-c', script, cgroup, ...boot], { stdio: ['ignore', 'ignore', 'pipe'] });
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
    await waitFor(() => removed(cgroup), { what: 'the control groups to be empty' });
    rmSync(dir, { recursive: true, force: true });
  };
  const up = () => sh('systemctl is-system-running').then((state) => state === 'running');
  try {
    await waitFor(async () => child.exitCode !== null || (await up()), { what: 'systemd to be up' });
    if (child.exitCode === null) return { sh, stop };
  } catch (error) {
    errors += String(error);
  }
  await stop();
  process.stderr.write(`no private systemd can be started here: ${errors.trim()}\n`);
  return null;
}

/** PID 1 of the namespaces: the one child of unshare. */
function initOf(unshare = 0): string {
  return readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim();
}

function inside(pid: string): string[] {
  return ['-t', pid, ...NAMESPACES, '--root', '--wd', '--'];
}

/** Removes the control groups that systemd made, from the innermost on. */
async function removed(cgroup: string): Promise<boolean> {
  await run('find', [cgroup, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']).catch(() => {});
  return !existsSync(cgroup);
}

// Runs logrotate with deploy/logrotate.d/cardpoll as it is, but for the paths, the user and the systemd unit: these are
// replaced, and when the file no longer says what is replaced the test fails.
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programPath } from './provision.ts';

const SHIPPED = fileURLToPath(new URL('../../deploy/logrotate.d/cardpoll', import.meta.url));
const run = promisify(execFile);

export interface Rotation {
  readonly logDir: string;
  /** Of the daemon; 0: none runs. */
  readonly pid: number;
  /** Keeps the configuration and logrotate's state. */
  readonly workDir: string;
}

/** Rotates as if it were time; rejects when logrotate fails. */
export async function rotateAsShipped(rotation: Rotation): Promise<void> {
  const config = join(rotation.workDir, 'logrotate.conf');
  const state = join(rotation.workDir, 'logrotate.state');
  writeFileSync(config, configuration(rotation), { mode: 0o644 });
  await run(programPath('logrotate'), ['--force', '--state', state, config]);
}

function configuration({ logDir, pid }: Rotation): string {
  const owner = `${userInfo().username} ${execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim()}`;
  const substitutes: Array<[string | RegExp, string]> = [
    ['su cardpoll cardpoll', `su ${owner}`],
    ['create 0640 cardpoll cardpoll', `create 0640 ${owner}`],
    [/systemctl list-units [^)]*/, pid === 0 ? 'true' : `echo ${pid} loaded`],
    ['systemctl kill --kill-who=main --signal=HUP "$unit"', 'kill -HUP "$unit"'],
    ['/var/log/cardpoll/*.log /var/log/cardpoll/worker-*/*.log {', `${logDir}/*.log {`],
  ];
  let text = readFileSync(SHIPPED, 'utf8');
  for (const [shipped, substitute] of substitutes) {
    const changed = text.replace(shipped, () => substitute);
    if (changed === text) throw new Error(`${SHIPPED} no longer says ${shipped}`);
    text = changed;
  }
  return text;
}

/** Whether the process still has a log file open that was rotated. */
export function holdsRotatedFile(pid: number): boolean {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).some((fd) => {
    try {
      return /\.log-[^/]+$/.test(readlinkSync(join(descriptors, fd)));
    } catch {
      return false; // closed meanwhile
    }
  });
}

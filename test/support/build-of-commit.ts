// The product as it was at a commit of this repository, built with the packages of that commit. Needs the history: a shallow
// clone has none.
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** @param into a directory for it. @returns what runs its `cardpoll` */
export async function buildOfCommit(commit: string, into: string): Promise<readonly [string, ...string[]]> {
  const copy = join(into, commit);
  const archive = `${copy}.tar`;
  mkdirSync(copy);
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  await run('tar', ['--extract', '--file', archive, '--directory', copy]);
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: copy });
  await run('npm', ['run', '--silent', 'build'], { cwd: copy });
  return [process.execPath, join(copy, 'bin', 'cardpoll.js')];
}

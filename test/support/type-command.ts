// Types a command that the product printed, as it stands there, into a shell. `cardpoll` is the built one; `redis-cli`,
// `psql` and the rest are those of the machine, unless the test puts programs of its own before them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from './temporary-directory.ts';

const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));

/** @param programs name -> shell script. @returns what it printed. Throws when it ends with anything but 0. */
export function typeCommand(
  command: string | null | undefined,
  env: Readonly<Record<string, string>>,
  programs: Readonly<Record<string, string>> = {},
): string {
  if (command === null || command === undefined) throw new Error('there is nothing to type');
  const bin = temporaryDirectory('typed');
  const all = { cardpoll: `exec "${process.execPath}" "${BINARY}" "$@"`, ...programs };
  for (const [name, script] of Object.entries(all)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    env: { ...env, PATH: `${bin}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
  return stdout;
}

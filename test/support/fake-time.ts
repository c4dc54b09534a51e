// A clock that a test sets for one process, servers too: libfaketime in front of its C library (package faketime). What
// passes by the monotonic clock goes on as it does.
import { chmodSync, existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { programPath } from './provision.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export class FakeTime {
  readonly #file = join(temporaryDirectory('fake-time'), 'offset');

  constructor(aheadMs = 0) {
    // PostgreSQL runs as another user.
    chmodSync(dirname(this.#file), 0o755);
    this.set(aheadMs);
  }

  /** Environment of the process that is to have this clock. */
  get env(): Record<string, string> {
    return {
      // The allocator of Redis (jemalloc) asks for the time while libfaketime asks it for memory: libc's own does not. Redis 8
      // calls functions that only jemalloc has and does not start with it (timed-redis.ts does without libfaketime).
      LD_PRELOAD: `${library()} libc.so.6`,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  get file(): string {
    return this.#file;
  }

  /** From now on the process' clock is this far ahead of the machine's; negative: behind. */
  set(aheadMs: number): void {
    const seconds = aheadMs / 1000;
    // In one step: a process that reads a file half written takes the machine's own time.
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function library(): string {
  programPath('faketime');
  const found = readdirSync('/usr/lib')
    .map((name) => join('/usr/lib', name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error('the package faketime brings no libfaketime.so.1');
  return found;
}

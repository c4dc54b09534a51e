// Standard output as a pipe whose reader falls behind: a real FIFO, both ends non-blocking.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LineFile } from '../../../src/platform/line-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { waitFor } from '../../support/wait-for.ts';

let dir: string;
let reader: number;
let writer: number;
let problems: string[];
let missing: number;

beforeEach(() => {
  dir = temporaryDirectory('pipe');
  const path = join(dir, 'pipe');
  spawnSync('mkfifo', [path]);
  reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  problems = [];
  missing = 0;
});
afterEach(() => {
  closeSync(reader);
  closeSync(writer);
});

const open = (maxWaiting: number) =>
  new LineFile({
    target: writer,
    maxWaiting,
    onProblem: (message) => problems.push(message),
    onRecovered: (dropped) => {
      missing += dropped;
    },
  });

/** What is in the pipe now. */
function readAvailable(): string {
  const buffer = Buffer.alloc(256 * 1024);
  try {
    return buffer.toString('utf8', 0, readSync(reader, buffer));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
    throw error;
  }
}

/** Closes the file and reads until it is closed. */
async function readLines(file: LineFile): Promise<number[]> {
  let closed = false;
  let text = '';
  file.close().then(() => {
    closed = true;
  });
  await waitFor(
    () => {
      const last = closed;
      text += readAvailable();
      return last;
    },
    { everyMs: 1, what: 'the file to close' },
  );
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line.split(' ')[0]));
}

const LINE = (n: number) => `${n} ${'x'.repeat(90)}\n`;

describe('a pipe whose reader is behind', () => {
  it('gets every line once the reader reads, without a word about it', async () => {
    const file = open(4 * 1024 * 1024);
    for (let n = 0; n < 5_000; n++) file.write(LINE(n));
    const numbers = await readLines(file);
    expect(numbers).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
    expect(problems).toEqual([]);
  });

  it('costs lines above the bound, which are counted', async () => {
    const file = open(64 * 1024);
    for (let n = 0; n < 5_000; n++) file.write(LINE(n));
    expect(problems).toEqual([
      'standard output: log lines wait and then are dropped: it is not written as fast as lines come',
    ]);
    const numbers = await readLines(file);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.length + missing).toBe(5_000);
  });
});

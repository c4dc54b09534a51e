// The logs on a file system that is really full: a tmpfs of 256 KiB where the test may mount one, else /dev/full
// alone, which never has room again by itself.
import { readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LineFile } from '../../../src/platform/line-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { mountTinyDisk } from '../../support/tiny-disk.ts';
import { waitFor } from '../../support/wait-for.ts';

const { path: mountPoint, mounted, remove } = await mountTinyDisk(256);
afterAll(remove);

const LINE = (n: number) => `${JSON.stringify({ n, padding: 'x'.repeat(80) })}\n`;
const MAX_WAITING = 64 * 1024;
const path = join(mountPoint, 'worker.log');
const filler = join(mountPoint, 'filler');

let problems: string[];
let missing: number;
let file: LineFile;

function open(target: string): LineFile {
  return new LineFile({
    target,
    maxWaiting: MAX_WAITING,
    onProblem: (message) => problems.push(message),
    onRecovered: (dropped) => {
      missing += dropped;
    },
  });
}

function numbersIn(...paths: string[]): number[] {
  const text = paths.map((name) => readFileSync(name, 'utf8')).join('');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { n: number }).n);
}

/** Fills the disk up to the last byte. */
function fill(): void {
  let size = 256 * 1024;
  for (; size > 0; size -= 4096) {
    try {
      writeFileSync(filler, Buffer.alloc(size));
      return;
    } catch {
      unlinkSync(filler);
    }
  }
}

beforeEach(() => {
  for (const name of mounted ? readdirSync(mountPoint) : []) unlinkSync(join(mountPoint, name));
  problems = [];
  missing = 0;
});
afterEach(() => file.close());

describe('a device that is always full', () => {
  it('costs lines and one message, not the process', async () => {
    file = open('/dev/full');
    file.write(LINE(0));
    await file.flush();
    for (let n = 1; n < 5_000; n++) {
      file.write(LINE(n));
      if (n % 100 === 0) await nextTurn();
    }
    await file.flush();
    await file.close();
    expect(problems[0]).toMatch(/^\/dev\/full: log lines wait and then are dropped: ENOSPC/);
    expect(problems[1]).toBe('/dev/full: log lines lost at the end: 5000');
    expect(problems).toHaveLength(2);
  });
});

describe('a path that leads to a full device and then, reopened, to a file', () => {
  it('writes what waited into the new file, every line once', async () => {
    const own = temporaryDirectory('link');
    const link = join(own, 'worker.log');
    symlinkSync('/dev/full', link);
    file = open(link);
    for (let n = 0; n < 100; n++) file.write(LINE(n));
    await file.flush();
    expect(problems).toHaveLength(1);
    unlinkSync(link);
    file.reopen();
    await file.close();
    expect(numbersIn(link)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(problems[1]).toBe(`${link}: written again; log lines dropped: 0`);
  });
});

describe.runIf(mounted)('a disk that fills up and gets room again', () => {
  it('holds what waited, counts what was dropped, and goes on', async () => {
    file = open(path);
    file.write(LINE(0));
    await file.flush();
    fill();
    const total = 5_000;
    for (let n = 1; n < total; n++) {
      file.write(LINE(n));
      if (n % 100 === 0) await file.flush();
    }
    await waitFor(() => problems.length === 1, { what: 'the message' });
    expect(problems[0]).toContain('ENOSPC');
    unlinkSync(filler);
    await waitFor(() => problems.length === 2, { what: 'the recovery' });
    file.write(LINE(total));
    await file.close();

    const numbers = numbersIn(path);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(missing).toBeGreaterThan(0);
    expect(numbers.length + missing).toBe(total + 1);
    expect(file.dropped).toBe(missing);
    expect(numbers.at(-1)).toBe(total);
    expect(problems[1]).toBe(`${path}: written again; log lines dropped: ${missing}`);
  });

  it('lets go of a rotated and removed file, and writes a cut line again in whole', async () => {
    file = open(path);
    const total = 4_000; // 380 KB: more than the disk holds
    for (let n = 0; n < total; n++) {
      file.write(LINE(n));
      if (n % 100 === 0) await file.flush();
    }
    await waitFor(() => problems.length === 1, { what: 'the disk to be full' });
    const rotated = join(mountPoint, 'worker.log.1');
    renameSync(path, rotated);
    const written = readFileSync(rotated, 'utf8').split('\n');
    const cut = written.pop();
    unlinkSync(rotated); // the space comes back only when the descriptor is closed
    file.reopen();
    await waitFor(() => problems.length === 2, { what: 'the recovery' });
    await file.close();
    expect(cut).not.toBe('');
    const numbers = numbersIn(path);
    expect(numbers[0]).toBe(written.length);
    expect(written.length + numbers.length + missing).toBe(total);
  });
});

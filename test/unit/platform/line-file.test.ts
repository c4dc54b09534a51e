// When lines are written and which descriptors are held, on a disk where all is well, with timers that the test moves. What
// a full disk and a slow reader do is in full-disk.test.ts and slow-reader.test.ts.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LineFile } from '../../../src/platform/line-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let dir: string;
let path: string;
const problems: string[] = [];
const recoveries: number[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  dir = temporaryDirectory('line-file');
  path = join(dir, 'a.log');
  problems.length = 0;
  recoveries.length = 0;
});
afterEach(() => {
  vi.restoreAllMocks(); // a spy on the fake timers must not outlive them
  vi.useRealTimers();
});

function open(target: string | number = path, maxWaiting?: number): LineFile {
  return new LineFile({
    target,
    onProblem: (message) => problems.push(message),
    onRecovered: (dropped) => recoveries.push(dropped),
    ...(maxWaiting === undefined ? {} : { maxWaiting }),
  });
}

const line = (length: number) => `${'x'.repeat(length - 1)}\n`;
const WRITTEN_AT = 32 * 1_024;
const lengthOf = (file = path) => readFileSync(file).length;
/** Descriptors of this process that lead into the directory. */
const held = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(dir) ? [target] : [];
    } catch {
      return []; // that of the listing itself
    }
  });

/** Long enough for a write that was begun to end. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
}

/** As vi.waitFor, by turns of the event loop: timers stand still. */
async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error('it never came true');
    await nextTurn();
  }
}

describe('when lines are written', () => {
  it('gathers them for 100 ms', async () => {
    const file = open();
    file.write(line(10));
    await vi.advanceTimersByTimeAsync(60);
    file.write(line(10));
    await vi.advanceTimersByTimeAsync(39);
    await turns();
    expect(lengthOf()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await until(() => lengthOf() === 20);
    await file.close();
  });

  it('writes 32 Ki of them at once', async () => {
    const file = open();
    file.write(line(WRITTEN_AT / 2));
    await turns();
    expect(lengthOf()).toBe(0);
    file.write(line(WRITTEN_AT / 2));
    await until(() => lengthOf() === WRITTEN_AT);
    expect(vi.getTimerCount()).toBe(0);
    await file.close();
  });

  it('gathers what comes during a write in the same way', async () => {
    const file = open();
    file.write(line(WRITTEN_AT));
    file.write(line(WRITTEN_AT - 1));
    await until(() => lengthOf() === WRITTEN_AT);
    await turns();
    expect(lengthOf()).toBe(WRITTEN_AT);
    await vi.advanceTimersByTimeAsync(100);
    await until(() => lengthOf() === 2 * WRITTEN_AT - 1);
    file.write(line(WRITTEN_AT));
    file.write(line(WRITTEN_AT));
    await until(() => lengthOf() === 4 * WRITTEN_AT - 1);
    await turns();
    expect(vi.getTimerCount()).toBe(0);
    await file.close();
  });

  it('keeps every character, of lines longer than its memory and of lines that come during a write', async () => {
    const file = open();
    const lines = ['\u20ac', 'Gr\u00fc\u00dfe', '\u{1f600}'].map((text) => `${text.repeat(70_000)}\n`);
    for (const text of [...lines, ...lines, 'short\n', ...lines]) file.write(text);
    await file.flush();
    await file.close();
    const all = readFileSync(path, 'utf8');
    expect(all === [...lines, ...lines, 'short\n', ...lines].join('')).toBe(true);
    expect(problems).toEqual([]);
  });

  it('writes at once what is flushed', async () => {
    const file = open();
    file.write(line(8_192));
    file.write(line(10));
    await file.flush();
    expect(lengthOf()).toBe(8_202);
    await file.flush();
    await file.close();
  });
});

describe('what waits', () => {
  it('is as much as was agreed, and not a character more', async () => {
    const file = open(path, 100);
    file.write(line(60));
    file.write(line(40));
    expect(file.dropped).toBe(0);
    file.write(line(1));
    file.write(line(1));
    expect(file.dropped).toBe(2);
    expect(problems).toHaveLength(1);
    await file.flush();
    expect(recoveries).toEqual([2]);
    file.write(line(101));
    expect(file.dropped).toBe(3);
    await file.flush();
    expect(lengthOf()).toBe(100);
    await file.close();
  });

  it('is counted as lost where it cannot be written in 2 s at the end, and then left alone', async () => {
    spawnSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const file = open(); // a write waits for the reader
    file.write(line(64 * 1_024)); // what a pipe holds
    await file.flush();
    for (let n = 0; n < 200; n += 1) file.write(line(1_024));
    let closed = false;
    const close = file.close().then(() => {
      closed = true;
    });
    await vi.advanceTimersByTimeAsync(1_999);
    await turns();
    expect(closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await close;
    expect(problems).toEqual([`${path}: log lines lost at the end: 200`]);
    closeSync(reader); // the write under way fails
    await turns();
    expect(vi.getTimerCount()).toBe(0); // the number may be another file's by now
    expect(problems).toHaveLength(1);
  });
});

describe('a file that was removed', () => {
  /** What happens once a second. */
  let look: () => void;
  beforeEach(() => {
    vi.spyOn(globalThis, 'setInterval').mockImplementation(((callback: () => void) => {
      look = callback;
      return { unref: () => undefined };
    }) as never);
  });

  it('is made again within a second, with its directory; what only it had counts as dropped', async () => {
    const file = open();
    file.write(line(10));
    await file.flush();
    file.write(line(20));
    await file.flush();
    rmSync(dir, { recursive: true });
    file.write(line(30));
    await file.flush();
    look();
    file.write(line(40));
    await file.flush();
    expect(lengthOf()).toBe(40);
    expect(recoveries).toEqual([3]);
    expect(file.dropped).toBe(3);
    expect(problems).toEqual([
      expect.stringContaining('removed'),
      `${path}: written again; log lines dropped: 3`,
    ]);
    await file.close();
    await until(() => held().length === 0);
  });

  it('is let go, so that its space is free, also when no line comes', async () => {
    const file = open();
    unlinkSync(path);
    look();
    await until(() => existsSync(path) && held().length === 1);
    expect(held()).toEqual([path]);
    expect(problems).toEqual([]);
    await file.close();
  });

  it('makes lines wait while it cannot be made again', async () => {
    const file = open();
    file.write(line(10));
    await file.flush();
    rmSync(dir, { recursive: true });
    writeFileSync(dir, '');
    look();
    file.write(line(20));
    await file.flush();
    expect(problems).toEqual([expect.stringContaining('ENOTDIR')]);
    unlinkSync(dir);
    await vi.advanceTimersByTimeAsync(250);
    await until(() => existsSync(path) && lengthOf() === 20 && recoveries.length > 0);
    expect(recoveries).toEqual([1]);
    expect(problems).toHaveLength(2);
    await file.close();
  });

  it('is not one that a rotation renamed', async () => {
    const file = open();
    renameSync(path, `${path}.1`);
    look();
    file.write(line(10));
    await file.close();
    expect(existsSync(path)).toBe(false);
    expect(lengthOf(`${path}.1`)).toBe(10);
    expect(problems).toEqual([]);
  });
});

describe('the descriptor', () => {
  it('is one at a time, however often the file is reopened, and none in the end', async () => {
    const file = open();
    file.write(line(8_192));
    file.reopen();
    file.reopen();
    await file.flush();
    await until(() => held().length === 1);
    renameSync(path, `${path}.1`);
    file.reopen();
    file.write(line(10));
    await file.flush();
    await until(() => held().length === 1);
    expect([lengthOf(), lengthOf(`${path}.1`)]).toEqual([10, 8_192]);
    await file.close();
    expect(held()).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('is taken at once where writing failed', async () => {
    symlinkSync('/dev/full', path);
    const file = open();
    file.write(line(10));
    await file.flush();
    unlinkSync(path);
    writeFileSync(path, '');
    file.reopen();
    await until(() => lengthOf() === 10);
    await turns();
    expect(problems).toEqual([
      expect.stringContaining('ENOSPC'),
      `${path}: written again; log lines dropped: 0`,
    ]);
    expect(recoveries).toEqual([]);
    await file.close();
  });

  it('tries again by itself after 250 ms', async () => {
    symlinkSync('/dev/full', path);
    const file = open();
    file.write(line(10));
    await file.flush();
    const tries = vi.spyOn(globalThis, 'setTimeout');
    await vi.advanceTimersByTimeAsync(249);
    await turns();
    expect(tries).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await until(() => tries.mock.calls.length === 1);
    expect(tries.mock.calls[0]?.[1]).toBe(250);
    await file.close();
  });

  it('a descriptor of another owner is neither closed nor reopened', async () => {
    const own = openSync(path, 'a');
    const file = open(own);
    file.reopen();
    file.write(line(10));
    await file.close();
    expect(problems).toEqual([]);
    expect(lengthOf()).toBe(10);
    closeSync(own);
  });

  it('is not touched after the end', async () => {
    const file = open();
    await file.close();
    const next = openSync(path, 'a'); // with the number that was free again
    file.write(line(10_000));
    file.reopen();
    await file.flush();
    await file.close();
    expect(fstatSync(next).isFile()).toBe(true);
    expect(held()).toHaveLength(1);
    expect(lengthOf()).toBe(0);
    closeSync(next);
  });
});

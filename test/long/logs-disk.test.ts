// `cardpoll logs` where it must write: more hits than memory should hold, a full disk, directories that are not there
// or not ours. A failure is one line with what, where and what to do, exit code 74, and nothing stays behind.
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { LogTree } from '../support/log-tree.ts';
import { endOwnedProcesses, spawnOwned } from '../support/owned-process.ts';
import { runCli } from '../support/processes.ts';
import { programPath } from '../support/provision.ts';
import { mountTinyDisk } from '../support/tiny-disk.ts';

const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));
const CARD = '8986001234567890123';
const MEASURE_BYTES = 5_000_000;
const START_MS = Date.parse('2026-02-01T00:00:00Z');
const full = await mountTinyDisk(1024);
afterAll(() => full.remove());
afterAll(endOwnedProcesses);

const search = (tree: LogTree, ...args: string[]) => tree.searchCommand(CARD, ...args);

interface Hits {
  readonly files: number;
  readonly hitsAFile: number;
  readonly lineBytes: number;
}

/** Every line is a hit; the files' times interleave millisecond by millisecond. */
function hitsIn(tree: LogTree, { files, hitsAFile, lineBytes }: Hits): LogTree {
  const padding = 'x'.repeat(lineBytes - 80);
  for (let file = 0; file < files; file += 1) {
    const fd = openSync(tree.path(`${file}.log`), 'w');
    for (let n = 0; n < hitsAFile; ) {
      let text = '';
      for (const end = Math.min(hitsAFile, n + 4_000); n < end; n += 1) {
        const time = new Date(START_MS + n * files + file).toISOString();
        text += `{"time":"${time}","iccid":"${CARD}","padding":"${padding}"}\n`;
      }
      writeSync(fd, text);
    }
    closeSync(fd);
  }
  return tree;
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** As runCli, under another program: `prlimit --fsize=1 --`, or as another user. */
async function runUnder(before: readonly string[], args: readonly string[], env = {}): Promise<Outcome> {
  const [program = '', ...rest] = [...before, process.execPath, BINARY, ...args];
  const child = spawnOwned(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (data) => {
    stdout += data;
  });
  child.stderr?.on('data', (data) => {
    stderr += data;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

function expectOneLine(outcome: Outcome, ...says: (string | RegExp)[]): void {
  expectFailure(74, outcome, ...says);
}

function expectFailure(expected: number, { code, stdout, stderr }: Outcome, ...says: (string | RegExp)[]) {
  expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
  expect(stderr).toMatch(/^cardpoll: [^\n]+\n$/);
  for (const part of says) expect(stderr).toMatch(part);
}

describe('--all with more hits than memory should hold', () => {
  it('stays within 250 MB, complete and in time order', async () => {
    // Two files are read by two threads at most.
    const hits = { files: 2, hitsAFile: 160_000, lineBytes: 1_000 };
    const tree = hitsIn(new LogTree(), hits);
    const temporary = new LogTree().root;
    const { code, count, mostKb } = await printAll(tree, temporary);
    expect({ code, count }).toEqual({ code: 0, count: hits.files * hits.hitsAFile });
    expect(mostKb).toBeGreaterThan(30_000);
    expect(mostKb).toBeLessThanOrEqual(250 * 1024);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('stays far below all hits where lines have megabytes', async () => {
    const tree = hitsIn(new LogTree(), { files: 70, hitsAFile: 1, lineBytes: 7_000_000 });
    const { code, count, mostKb } = await printAll(tree, new LogTree().root);
    expect({ code, count }).toEqual({ code: 0, count: 70 });
    // 490 MB in all; when such buffers are given back is up to Node.
    expect(mostKb).toBeLessThanOrEqual(350 * 1024);
  });

  it('opens few files at a time, however many files have hits', async () => {
    const tree = hitsIn(new LogTree(), { files: 400, hitsAFile: 3, lineBytes: 200 });
    const limit = ['prlimit', '--nofile=128:128', '--'];
    const { code, stdout } = await runUnder(limit, search(tree, '--all'));
    expect(code).toBe(0);
    const times = stdout.split('\n').flatMap((line) => /"time":"([^"]+)"/.exec(line)?.[1] ?? []);
    expect(times).toEqual([...times].sort());
    expect(new Set(times).size).toBe(1_200);
  });

  it('prints them with --trace too, which reads them first', async () => {
    const tree = hitsIn(new LogTree(), { files: 100, hitsAFile: 3, lineBytes: 200 });
    const { code, stdout } = await runCli(search(tree, '--all', '--trace', '-o', 'json'));
    expect(code).toBe(0);
    expect(JSON.parse(stdout).records).toHaveLength(300);
  });
});

/** Throws where a line is missing or out of order. */
async function printAll(tree: LogTree, temporary: string) {
  const args = ['--max-old-space-size=64', BINARY, ...search(tree, '--all')];
  const child = spawnOwned(process.execPath, args, {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let [count, bytes, mostKb] = [0, 0, 0];
  if (child.stdout === null) throw new Error('no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    const time = Date.parse(line.slice(line.indexOf('"time":"') + 8).slice(0, 24));
    if (time !== START_MS + count) throw new Error(`line ${count} is out of order: ${line.slice(0, 200)}`);
    count += 1;
    bytes += line.length;
    if (bytes < MEASURE_BYTES) continue;
    bytes = 0;
    mostKb = Math.max(mostKb, peakKb(child.pid ?? 0));
  }
  return { code: await ended, count, mostKb };
}

function peakKb(pid: number): number {
  // Nothing is told of a process that has just ended.
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

describe('no room for the hits of --all', () => {
  const few = { files: 1, hitsAFile: 3_000, lineBytes: 1_000 };
  const many = { files: 2, hitsAFile: 80_000, lineBytes: 1_000 };

  it.each([
    ['at the end of a file', few],
    ['in the middle of a file', { ...few, hitsAFile: 20_000 }],
    ['on worker threads', many],
  ])('%s, for a limit of file sizes', async (_, hits) => {
    const temporary = new LogTree().root;
    const tree = hitsIn(new LogTree(), hits);
    const limit = [programPath('prlimit', { debianPackage: 'util-linux' }), '--fsize=1000000', '--'];
    const outcome = await runUnder(limit, search(tree, '--all'), { TMPDIR: temporary });
    expectOneLine(outcome, temporary, 'EFBIG', 'set TMPDIR');
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.runIf(full.mounted).each([
    ['at the end of a file', few],
    ['on worker threads', many],
  ])('%s, on a full disk', async (_, hits) => {
    const tree = hitsIn(new LogTree(), hits);
    const outcome = await runCli(search(tree, '--all'), { env: { TMPDIR: full.path } });
    expectOneLine(outcome, full.path, 'ENOSPC: no space left on device', 'set TMPDIR');
    expect(readdirSync(full.path)).toEqual([]);
  });

  it.runIf(full.mounted)('while runs are merged', async () => {
    // 640 kB of runs fit, a merged copy of 64 of them does not.
    const tree = hitsIn(new LogTree(), { files: 80, hitsAFile: 4, lineBytes: 2_000 });
    const outcome = await runCli(search(tree, '--all'), { env: { TMPDIR: full.path } });
    expectOneLine(outcome, full.path, 'ENOSPC', 'set TMPDIR');
    expect(readdirSync(full.path)).toEqual([]);
  });

  it('does not matter to a search that keeps none', async () => {
    const tree = hitsIn(new LogTree(), few);
    const outcome = await runCli(search(tree, '--count-only'), { env: { TMPDIR: '/no/such/place' } });
    expect(outcome).toMatchObject({ code: 0, stdout: '3000\n', stderr: '' });
  });

  it('a TMPDIR that is not there, is a file, or is not ours', async () => {
    const tree = hitsIn(new LogTree(), few);
    const file = tree.write('file', '');
    for (const TMPDIR of ['/no/such/place', file, '/proc']) {
      expectOneLine(await runCli(search(tree, '--all'), { env: { TMPDIR } }), TMPDIR, 'set TMPDIR');
    }
  });
});

describe('standard output on a full disk', () => {
  it('ends --all with one line, and its temporary files', async () => {
    const temporary = new LogTree().root;
    const tree = hitsIn(new LogTree(), { files: 1, hitsAFile: 3_000, lineBytes: 1_000 });
    const under = ['sh', '-c', 'exec "$@" >/dev/full', 'sh'];
    const outcome = await runUnder(under, search(tree, '--all'), { TMPDIR: temporary });
    expectOneLine(outcome, 'standard output', 'ENOSPC');
    expect(readdirSync(temporary)).toEqual([]);
  });
});

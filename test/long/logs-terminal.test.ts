// `cardpoll logs` on a terminal: progress is drawn over itself, is gone at the end, and reaches nothing but a terminal.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { BIG_LOG_CARD, writeBigLog } from '../support/big-log.ts';
import { LogTree } from '../support/log-tree.ts';
import { endOwnedProcesses } from '../support/owned-process.ts';
import { quoted, Terminal, type TerminalOptions } from '../support/terminal.ts';

const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));
const MEMBERS = 40;
afterAll(endOwnedProcesses);

function oneBigFile(): LogTree {
  const tree = new LogTree();
  writeBigLog(tree.path('worker.log-20260202.gz'), { members: MEMBERS });
  return tree;
}

function twoBigFiles(damaged = false): LogTree {
  const tree = new LogTree();
  writeBigLog(tree.path('a.log.gz'), { members: MEMBERS, damaged });
  writeBigLog(tree.path('b.log.gz'), { members: MEMBERS });
  return tree;
}

const search = (tree: LogTree, ...args: string[]) => tree.searchCommand(BIG_LOG_CARD, ...args);

/** @param redirect as the shell takes it. */
function onTerminal(args: readonly string[], redirect = '', options: TerminalOptions = {}): Terminal {
  const words = [process.execPath, BINARY, ...args].map(quoted).join(' ');
  return new Terminal(`${words} ${redirect}`, options);
}

interface Frame {
  readonly text: string;
  readonly percent: number;
}

/** What was drawn over itself, in order. */
function framesOf({ written }: Terminal): Frame[] {
  return written.split('\r\x1b[K').flatMap((text) => {
    const bar = /^\w+ █*░* (\d+) %(?: {2}[\dhms ]+ left)?$/.exec(text);
    return bar === null ? [] : [{ text, percent: Number(bar[1]) }];
  });
}

function expectProgress(terminal: Terminal): void {
  const frames = framesOf(terminal);
  const percents = frames.map(({ percent }) => percent);
  expect(percents.length).toBeGreaterThan(2);
  expect(percents).toEqual([...percents].sort((a, b) => a - b));
  expect(new Set(percents).size).toBeGreaterThan(1);
  expect(percents.at(-1)).toBeLessThanOrEqual(100);
  for (const { text } of frames) expect([...text].length).toBeLessThanOrEqual(terminal.columns);
}

describe('progress', () => {
  it.each([
    ['one file, searched on the main thread', oneBigFile, MEMBERS, 1],
    ['files searched on worker threads', twoBigFiles, 2 * MEMBERS, Math.min(2, availableParallelism())],
  ] as const)('%s: a bar that grows and goes, then the summary', async (_, makeTree, hits, threads) => {
    const terminal = onTerminal(search(makeTree()));
    expect(await terminal.ended()).toBe(0);
    expectProgress(terminal);
    expect(terminal.screen[0]).toMatch(new RegExp(`^card +${BIG_LOG_CARD}`));
    expect(terminal.screen.join('\n')).toMatch(new RegExp(`^hits +${hits}$`, 'm'));
    expect(terminal.screen.join('\n')).toMatch(new RegExp(`^time .*, ${threads} threads?$`, 'm'));
    expect(terminal.screen.join('\n')).not.toMatch(/[█░%]/);
  });

  it('does not go back where a file is searched a second time', async () => {
    const terminal = onTerminal(search(twoBigFiles(true)));
    expect(await terminal.ended()).toBe(2);
    expectProgress(terminal);
    expect(terminal.screen.join('\n')).toMatch(/crc_mismatch/);
  });

  it('fits a narrow terminal', async () => {
    const terminal = onTerminal(search(oneBigFile(), '--count-only'), '', { columns: 40 });
    expect(await terminal.ended()).toBe(0);
    expectProgress(terminal);
    expect(terminal.screen).toEqual([String(MEMBERS)]);
  });
});

describe('the streams', () => {
  it('--count-only on a terminal leaves the integer and nothing else', async () => {
    const terminal = onTerminal(search(oneBigFile(), '--count-only'));
    expect(await terminal.ended()).toBe(0);
    expectProgress(terminal);
    expect(terminal.screen).toEqual([String(MEMBERS)]);
  });

  it('standard output in a file holds the answer alone, byte for byte', async () => {
    const tree = twoBigFiles();
    const file = new LogTree().path('out');
    const terminal = onTerminal(search(tree, '--count-only'), `>${quoted(file)}`);
    expect(await terminal.ended()).toBe(0);
    expectProgress(terminal);
    expect(readFileSync(file, 'utf8')).toBe(`${2 * MEMBERS}\n`);
    expect(terminal.screen).toEqual([]);
  });

  it('standard error in a file gets no bar, nor does the terminal', async () => {
    const file = new LogTree().path('err');
    const terminal = onTerminal(search(oneBigFile()), `2>${quoted(file)}`);
    expect(await terminal.ended()).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('');
    expect(terminal.written).not.toMatch(/[█░%]/);
    expect(terminal.screen[0]).toMatch(/^card/);
  });
});

describe('Ctrl-C', () => {
  it.each([
    ['on the main thread', oneBigFile, []],
    ['on worker threads', twoBigFiles, ['--all']],
  ] as const)('%s leaves a clean line', async (_, makeTree, args) => {
    const terminal = onTerminal(search(makeTree(), ...args));
    await terminal.waitFor(/ \d+ %/);
    terminal.press('\x03');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.screen).toEqual([]);
  });
});

// The tours of README.md and docs/tour.md, word for word: every line is typed on a terminal next to the demo. A question is
// answered with yes. A command that runs until it is stopped is stopped with Ctrl-C.
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { BINARY, type RunningCli, spawnCli } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { quoted, Terminal } from '../support/terminal.ts';

const ESC = '\u001b';
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const SHORT_TOUR = linesOf(read('README.md').split('\n## A tour\n')[1]?.split('\n## ')[0]);
const FULL_TOUR = linesOf(read('docs/tour.md').split('\n## ')[0]);
/** A command that both pages show is typed once. */
const TOUR = [...new Map([...SHORT_TOUR, ...FULL_TOUR].map((line) => [withoutComment(line), line])).values()];

const dir = temporaryDirectory('tour');
let demo: RunningCli;
let env: Record<string, string>;

beforeAll(async () => {
  symlinkSync(BINARY, join(dir, 'cardpoll'));
  const listen = `127.0.0.1:${await freePort()}`;
  demo = spawnCli(['demo', '--listen', listen]);
  await demo.waitForLine(/^[●▲✖] (normal|warning|alert) .*realname [\d.]+\/s q\d+/);
  env = {
    PATH: `${dir}:${process.env.PATH}`,
    CARDPOLL_URL: `http://${listen}`,
    XDG_CONFIG_HOME: join(dir, 'config'),
  };
});
afterAll(async () => {
  await demo.stop('SIGINT');
});

it('has something to show', () => {
  expect(SHORT_TOUR.length).toBeGreaterThan(8);
  expect(FULL_TOUR.length).toBeGreaterThan(15);
});

it.each(TOUR)('%s', async (line) => {
  let terminal = await typed(line);
  // On a busy machine: what it says then is to try again.
  while (/a store did not answer in time/.test(terminal.written)) terminal = await typed(line);
  if (line.includes('--watch')) {
    expect(await terminal.ended()).toBe(130);
    expect(terminal.written).not.toContain(`${ESC}[3J`);
    return;
  }
  expect(terminal.written).not.toMatch(/cardpoll: |unexpected error/);
  // The doctor may well find that something is wrong: that is what it is asked for.
  const codes = line.startsWith('cardpoll doctor') ? [0, 1] : [0];
  expect(codes, terminal.written).toContain(await terminal.ended());
});

function linesOf(text = ''): string[] {
  return text.split('\n').flatMap((line) => /^ {4}(cardpoll .*)$/.exec(line)?.[1] ?? []);
}

function withoutComment(line: string): string {
  return line.replace(/ +# .*/, '');
}

/** A line of the tour on a terminal, to its end. */
async function typed(line: string): Promise<Terminal> {
  const terminal = new Terminal(`sh -c ${quoted(line)}`, { columns: 80, rows: 24, env });
  if (line.includes('--watch')) {
    await terminal.waitFor(new RegExp(`${ESC}\\[\\d+A\\r`)); // drawn over itself once
    terminal.press('\x03');
  } else if (/^cardpoll (configs disable|init rebuild|pause --|stops mode enforce)/.test(line)) {
    await terminal.waitFor(/Go ahead\? \[y\/N\] /);
    terminal.press('y\r');
  }
  await terminal.ended();
  return terminal;
}

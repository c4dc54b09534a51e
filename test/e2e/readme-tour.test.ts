// The tours of README.md and docs/tour.md, word for word: every line is run as on a terminal, next to the demo. A question is
// answered with yes. A command that runs until it is stopped is typed on a real one and stopped with Ctrl-C.
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { freePort } from '../support/free-port.ts';
import { BINARY, type RunningCli, spawnCli } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { Terminal } from '../support/terminal.ts';

const ESC = '\u001b';
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const SHORT_TOUR = linesOf(read('README.md').split('\n## A tour\n')[1]?.split('\n## ')[0]);
const FULL_TOUR = linesOf(read('docs/tour.md').split('\n## ')[0]);
/** A command that both pages show is typed once. */
const TOUR = [...new Map([...SHORT_TOUR, ...FULL_TOUR].map((line) => [withoutComment(line), line])).values()];

const ASKS = /^cardpoll (configs disable|init rebuild|pause --|stops mode enforce)/;

const dir = temporaryDirectory('tour');
let demo: RunningCli;
let env: Record<string, string>;

beforeAll(async () => {
  symlinkSync(BINARY, join(dir, 'cardpoll'));
  const listen = `127.0.0.1:${await freePort()}`;
  demo = spawnCli(['demo', '--cards', '300', '--listen', listen]);
  await demo.waitForLine(/^[●▲✖] (normal|warning|alert) .*realname [\d.]+\/s q\d+/);
  env = {
    PATH: `${dir}:${process.env.PATH}`,
    CARDPOLL_URL: `http://${listen}`,
    XDG_CONFIG_HOME: join(dir, 'config'),
  };
});

it('has something to show', () => {
  expect(SHORT_TOUR.length).toBeGreaterThan(8);
  expect(FULL_TOUR.length).toBeGreaterThan(15);
});

it.each(TOUR.filter((line) => !line.includes('--watch')))('%s', async (line) => {
  const words = [...withoutComment(line).matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const type = () => cliHere(words.slice(1), { env, typed: 'y\n' });
  let { code, stdout, stderr } = await type();
  // On a busy machine: what it says then is to try again.
  while (/a store did not answer in time/.test(stderr)) ({ code, stdout, stderr } = await type());
  expect(stdout + stderr).not.toMatch(/cardpoll: |unexpected error/);
  // The doctor may well find that something is wrong: that is what it is asked for.
  expect(line.startsWith('cardpoll doctor') ? [0, 1] : [0], stdout + stderr).toContain(code);
  expect(stderr.includes('Go ahead? [y/N] '), stderr).toBe(ASKS.test(line));
});

it('cardpoll stats --watch', async () => {
  const terminal = new Terminal('sh -c "cardpoll stats --watch"', { columns: 80, rows: 24, env });
  await terminal.waitFor(new RegExp(`${ESC}\\[\\d+A\\r`)); // drawn over itself once
  terminal.press('\x03');
  expect(await terminal.ended()).toBe(130);
  expect(terminal.written).not.toContain(`${ESC}[3J`);
});

it('ends when nothing reads its status lines any more', async () => {
  demo.closeOutput();
  expect(await demo.ended()).toMatchObject({ code: 0, signal: null });
});

function linesOf(text = ''): string[] {
  return text.split('\n').flatMap((line) => /^ {4}(cardpoll .*)$/.exec(line)?.[1] ?? []);
}

function withoutComment(line: string): string {
  return line.replace(/ +# .*/, '');
}

// What a shell may offer next, by the declarations; bash's script is run by a real bash. test/e2e/completion-shells.test.ts
// runs all scripts on a terminal.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CommandSpec, shownBelow } from '../../../src/cli/command.ts';
import { ROOT } from '../../../src/cli/commands/root.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { CONFIG } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

/** @returns the lines of `cardpoll complete`. */
async function completed(typed: readonly string[], env = {}): Promise<string[]> {
  const { code, stdout, stderr } = await cli(['complete', '--', ...typed], { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').slice(0, -1);
}

/** The offered words that begin as the last word typed. */
async function offered(typed: readonly string[]): Promise<string[]> {
  const words = (await completed(typed)).map((line) => line.replace(/\t.*/, ''));
  return words.filter((word) => word.startsWith(typed.at(-1)?.replace(/^=$/, '') ?? ''));
}

describe('complete', () => {
  it.each([
    [['sta'], ['stats']],
    [['stats', 'fa'], ['failures']],
    [['stats', '--wa'], ['--watch']],
    [['stats', '--watch', 'fa'], ['failures']],
    [['stops', '--sta'], ['--state']],
    [['stops', 'mode', 'ob'], ['observe']],
    [['concurrency', 're'], ['reset']],
    [['--debug', 'concurrency', 'set', 'real'], ['realname']],
    [
      ['stats', '-o', ''],
      ['table', 'wide', 'tsv', 'json', 'jsonl', 'yaml'],
    ],
    [
      ['-o', 'js'],
      ['json', 'jsonl'],
    ],
    [
      ['logs', '-o', ''],
      ['text', 'json', 'jsonl'],
    ],
    [
      ['daemon', '--log-level', ''],
      ['debug', 'info', 'warn', 'error'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['cards', 'import', '--config', 'x'], []],
    [['cards', 'import', ''], [':files']],
    [['cards', 'import', '--undo-file', ''], [':files']],
    [['audit', '--action', ''], []],
    [['trigger', 'single', '--task', '=', 'real'], ['realname']],
    [
      ['trigger', 'single', '--task', '='],
      ['realname', 'carddata', 'package'],
    ],
    [['trigger', 'single', '--task=real'], ['--task=realname']],
    [
      ['cleanup', ''],
      ['configs', 'set-retention'],
    ],
    [['nonsense', '--deb'], ['--debug']],
  ])('%j offers %j', async (typed, expected) => {
    const words = await offered(typed);
    expect(words.slice(0, expected.length)).toEqual(expected);
    if (expected.length < 2) expect(words).toEqual(expected);
  });

  it.each(pathsBelow(ROOT))(
    '%j offers every option that its help names, with its meaning',
    async (...words) => {
      const help = (await cli([...words, '--help'])).stdout.split('\nUsage:')[1] ?? '';
      const named = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map((match) => match[1]);
      expect(await offered([...words, '--'])).toEqual(expect.arrayContaining(named));
      for (const line of await completed([...words, '--'])) expect(line).toMatch(/^--?[\w-]+\t.+/);
    },
  );

  it('offers options after a dash only, where something else may come', async () => {
    const words = await offered(['']);
    expect(words).toContain('stats');
    expect(words.filter((word) => word.startsWith('-'))).toEqual([]);
  });

  it('offers commands with their meaning', async () => {
    expect(await completed(['ver'])).toContain(
      'version\tShow the versions of cardpoll, Node.js and the daemon, and the commit of this build',
    );
  });

  it('offers names from the daemon that can be typed', async () => {
    const items = [CONFIG, { ...CONFIG, name: 'Package check' }];
    const { env } = await daemonThatSays(json({ items, page: 1, page_size: 100, total: 2 }));
    expect(await completed(['configs', 'enable', ''], env)).toEqual(['Package check\t']);
  });

  it('offers no name without a daemon', async () => {
    expect(await completed(['configs', 'enable', ''], { CARDPOLL_URL: 'http://127.0.0.1:1' })).toEqual([]);
  });
});

/** What is typed for each command after `cardpoll`. */
function pathsBelow(spec: CommandSpec, path: readonly string[] = []): string[][] {
  return [[...path], ...shownBelow(spec).flatMap((sub) => pathsBelow(sub, [...path, sub.name]))];
}

describe('bash', () => {
  it.each([
    [['con'], ['concurrency', 'configs']],
    [['Pack'], ['Package\\ check']],
    [['"Package c'], ['Package check']],
    [['Package\\ c'], ['Package\\ check']],
    [
      ['x', '='],
      ['concurrency', 'configs', 'Package\\ check'],
    ],
  ])('offers for %j %j', async (typed, expected) => {
    const { stdout: script } = await cli(['completion', 'bash']);
    const lines = join(temporaryDirectory('completion'), 'lines');
    writeFileSync(lines, 'concurrency\tlimits\nconfigs\t\nPackage check\t\n:files\n');
    const probe = `cardpoll() { cat '${lines}'; }
${script}
COMP_WORDS=(cardpoll "$@"); COMP_CWORD=$#; _cardpoll; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync('bash', ['--norc', '-uc', probe, 'bash', ...typed], { encoding: 'utf8' });
    expect(out.trimEnd().split('\n')).toEqual(expected);
  });
});

it('refuses other shells', async () => {
  const { code, stderr } = await cli(['completion', 'bsh']);
  expect(code).toBe(64);
  expect(stderr).toMatch(/did you mean bash\?/);
});

// The completion scripts, made from the declarations; bash's is run by a real bash.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../src/cli/commands/root.ts';
import { placesOf } from '../../../src/cli/completion-scripts.ts';
import { cli } from './cli-under-test.ts';

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await cli(['completion', shell]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

describe('bash', () => {
  /** What is offered after each of the command lines: one bash for all, since starting it takes longer than its answer. */
  async function offered(...lines: readonly (readonly string[])[]): Promise<string[][]> {
    const probe = `${await script('bash')}
while read -r count; do
  COMP_WORDS=(cardpoll); COMP_CWORD=$count
  while ((count-- > 0)); do IFS= read -r word; COMP_WORDS+=("$word"); done
  unset COMPREPLY; _cardpoll; printf '%s\\n' "\${COMPREPLY[@]}" .
done`;
    const input = lines.map((words) => [words.length, ...words, ''].join('\n')).join('');
    const out = execFileSync('bash', ['--norc', '-uc', probe], { encoding: 'utf8', input });
    const answers = out.split(/^\.\n/m).slice(0, -1);
    return answers.map((answer) => answer.split('\n').filter((line) => line !== ''));
  }

  it.each([
    [['sta'], ['stats']],
    [['stats', 'qu'], ['queues']],
    [['stats', '--wa'], ['--watch']],
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
    [['cards', 'import', ''], []], // so that bash offers files
    [['audit', '--action', ''], []],
    [['trigger', 'single', '--task', '=', 'real'], ['realname']],
    [
      ['trigger', 'single', '--task', '='],
      ['realname', 'carddata', 'package'],
    ],
    [
      ['cleanup', ''],
      ['configs', 'set-retention'],
    ],
    [['nonsense', '--deb'], ['--debug']],
  ])('%j offers %j', async (typed, expected) => {
    const [words = []] = await offered(typed);
    expect(words.slice(0, expected.length)).toEqual(expected);
    if (expected.length < 2) expect(words).toEqual(expected);
  });

  it('offers every command and, for each, every option that its help names', async () => {
    const commands = placesOf(ROOT).map(({ path }) => path.split(' ').slice(1));
    const answers = await offered(...commands.map((words) => [...words, '--']));
    expect(answers).toHaveLength(commands.length);
    for (const [i, words] of commands.entries()) {
      const help = (await cli([...words, '--help'])).stdout.split('\nUsage:')[1] ?? '';
      const named = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map((match) => match[1]);
      expect(answers[i], words.join(' ')).toEqual(expect.arrayContaining(named));
    }
  });
});

it('offers options after a dash only, where something else may come', async () => {
  const bash = (await script('bash')).split('\n').find((line) => line.startsWith("    'cardpoll') words="));
  expect(bash?.split(" flags='")[0]).not.toContain('--');
});

describe('zsh and fish', () => {
  it('know every command with its meaning', async () => {
    const [zsh, fish] = [await script('zsh'), await script('fish')];
    for (const { path, words } of placesOf(ROOT)) {
      expect(zsh).toContain(`    '${path}') candidates=(`);
      expect(zsh).toContain('compdef _cardpoll cardpoll');
      for (const { text } of words) {
        expect(zsh).toContain(`'${text}:`);
        expect(fish).toContain(`complete -c cardpoll -n '__cardpoll_at "${path}"' -f -a ${text} -d '`);
      }
    }
    // Unquoted apostrophes in a description would end a word early.
    for (const line of `${zsh}\n${fish}`.split('\n')) {
      expect(line.replace(/'\\''|\\'/g, '').split("'").length % 2, line).toBe(1);
    }
  });
});

it('refuses other shells', async () => {
  const { code, stderr } = await cli(['completion', 'bsh']);
  expect(code).toBe(64);
  expect(stderr).toMatch(/did you mean bash\?/);
});

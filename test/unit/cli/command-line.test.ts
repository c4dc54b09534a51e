// The command that a command line means: options work before and after its name.
import { describe, expect, it } from 'vitest';
import { type CommandSpec, nameOf } from '../../../src/cli/command.ts';
import { commandLineOf } from '../../../src/cli/command-line.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const command = (name: string, more: Partial<CommandSpec> = {}): CommandSpec => ({
  name,
  summary: '',
  examples: [],
  ...more,
});
const ROOT = command('root', {
  subcommands: [
    command('stats', { options: [{ flags: '--watch', doc: '' }] }),
    command('limit', {
      subcommands: [
        command('reset', { options: [{ flags: '--yes', doc: '' }] }),
        command('set', { options: [{ flags: '-n, --count <n>', doc: '' }] }),
      ],
    }),
    command('odd', { options: [{ flags: '--count', doc: 'takes no value here' }] }),
  ],
});
const meaning = (line: string) => {
  const { path, words } = commandLineOf(line.split(' '), ROOT);
  return [nameOf(path), ...words].join(' ');
};

describe('options before a command', () => {
  it.each([
    ['--watch stats', 'stats --watch'],
    ['-o json --watch stats queues', 'stats -o json --watch queues'],
    ['--json stats', 'stats --output=json'],
    ['--url http://x stats', 'stats --url http://x'],
    ['help stats', 'stats --help'],
    ['limit help set', 'limit set --help'],
    ['--yes limit reset realname', 'limit reset --yes realname'],
    ['limit --yes reset realname', 'limit reset --yes realname'],
    ['-n 5 limit set', 'limit set -n 5'],
    ['-n5 limit set', 'limit set -n5'],
    ['limit --count=5 set', 'limit set --count=5'],
    ['limit --count 5 set', 'limit set --count 5'],
    ['--watch --debug stats', 'stats --watch --debug'],
  ])('%s means %s', (typed, meant) => {
    expect(meaning(typed)).toBe(`root ${meant}`);
  });

  it.each([
    'stats --watch',
    'stats queues --watch',
    '--count 5 limit set', // with a value or without? the commands disagree
    '--wacth stats',
    '-- --watch stats',
    '-h',
  ])('%s is left to the parser', (typed) => {
    expect(meaning(typed)).toBe(`root ${typed}`);
  });
});

it('reaches the command', async () => {
  const daemon = await daemonThatSays(json({ task_type: 'realname', previous: 1, current: 0 }));
  for (const argv of [
    ['--yes', 'concurrency', 'reset', 'realname'],
    ['concurrency', '--yes', 'reset', 'realname'],
    ['concurrency', 'reset', 'realname', '--yes'],
  ]) {
    expect((await cli(argv, { env: daemon.env })).code, argv.join(' ')).toBe(0);
  }
  expect((await cli(['--wacth', 'stats'])).code).toBe(64);
  expect((await cli(['--watch', 'configs'])).code).toBe(64);
});

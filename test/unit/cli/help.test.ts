import { expect, it } from 'vitest';
import { type CommandSpec, partsOf } from '../../../src/cli/command.ts';
import { offerAt } from '../../../src/cli/commands/completion/offers.ts';
import { ROOT } from '../../../src/cli/commands/root.ts';
import { cli } from './cli-under-test.ts';

function pathsOf(spec: CommandSpec, path: readonly string[]): [string, CommandSpec][] {
  const below = (spec.subcommands ?? []).flatMap((sub) => pathsOf(sub, [...path, sub.name]));
  return [[path.join(' '), spec], ...below];
}
const COMMANDS = pathsOf(ROOT, []);

it.each(COMMANDS)('help of "%s" starts with three examples', async (path, spec) => {
  const { code, stdout, stderr } = await cli([...path.split(' ').filter((word) => word !== ''), '--help']);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n');
  expect(lines[0]).toBe('Examples:');
  expect(lines.slice(1, 4).every((line) => /^ {2}cardpoll .+ # /.test(line))).toBe(true);
  expect(stdout).toContain(`${spec.summary}.`.split(' ')[0]);
  expect(stdout).toMatch(/^Usage: cardpoll/m);
});

it.each(COMMANDS.filter(([, { run }]) => run !== undefined))(
  'the examples of "%s" are valid',
  async (_, spec) => {
    for (const [line] of (spec.examples ?? []).map(partsOf)) {
      const words = line.split(' ').slice(1);
      // Parsing fails with 64; what comes after it is not of interest here, so every example gets --help at its end.
      expect((await cli([...words, '--help'])).code, line).toBe(0);
    }
  },
);

it.each(COMMANDS)('help of "%s" states every default once', async (path) => {
  const { stdout } = await cli([...path.split(' ').filter((word) => word !== ''), '--help']);
  const options = stdout.replace(/\n {4,}(?=\S)/g, ' ');
  expect(options).not.toMatch(/\(default: [^)]*\) \(default:|default: ""/);
});

it('help states the unit of a default', async () => {
  const { stdout } = await cli(['--help']);
  expect(stdout.replace(/\s+/g, ' ')).toContain('(default: 10000 ms; env: CARDPOLL_TIMEOUT_MS)');
});

it('help and help of a command show the same as --help', async () => {
  expect(await cli(['help'])).toEqual(await cli(['--help']));
  expect(await cli([])).toEqual(await cli(['--help']));
  expect(await cli(['gateway'])).toEqual(await cli(['gateway', '--help']));
  expect(await cli(['help', 'stats'])).toEqual(await cli(['stats', '--help']));
});

it('begins with the examples of the command itself', async () => {
  const { stdout } = await cli(['cards', 'show', '--help']);
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'Examples:',
    expect.stringMatching(/^ {2}cardpoll cards show /),
  ]);
});

it.each([
  ['', ['top'], ['dashboard']],
  ['stats', ['queues', 'tasks', 'init'], ['overview', 'instances', 'failures']],
  ['doctor', ['--gateway-url', '--redis-url'], ['--fail-on', '--quiet']],
  ['logs', ['--inflate', '--threads'], ['--iccid']],
  ['alerts', ['--json'], ['rules']],
])('"%s" neither lists nor offers what former versions had besides %j', async (path, former, present) => {
  const words = path.split(' ').filter((word) => word !== '');
  const help = (await cli([...words, '--help'])).stdout.split('\n\n').slice(1).join('\n\n');
  const offered = ['', '-'].flatMap((typed) =>
    offerAt(ROOT, [...words, typed]).words.map(({ text }) => text),
  );
  const named = (name: string) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(help);
  expect(former.filter((name) => named(name) || offered.includes(name))).toEqual([]);
  expect(present.filter((name) => named(name) && offered.includes(name))).toEqual(present);
});

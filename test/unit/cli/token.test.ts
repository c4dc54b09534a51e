// `cardpoll token new`: what it prints is what the daemon lets in.
import { expect, it } from 'vitest';
import { ADMIN_TOKENS, hashOf } from '../../../src/config/admin-tokens.ts';
import { cli } from './cli-under-test.ts';

const make = (...argv: string[]) => cli(['token', 'new', ...argv], { env: {} });

it('prints a token once, and the line with its hash', async () => {
  const { code, stdout, stderr } = await make(
    '-o',
    'tsv',
    '--name',
    'anna',
    '--role',
    'operator',
    '--expires',
    '2027-01-31',
  );
  expect(code).toBe(0);
  const [, token = '', line = ''] = /^token\t(\S+)\nline\t(\S+)\n$/.exec(stdout) ?? [];
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(ADMIN_TOKENS.parse(line)).toEqual([
    {
      name: 'anna',
      role: 'operator',
      hash: hashOf(token),
      expiresAtMs: Date.parse('2027-02-01T00:00:00Z'),
    },
  ]);
  expect(line + stderr).not.toContain(token);
  expect((await make('--name', 'anna', '--role', 'operator')).stdout).not.toContain(token);
});

it('has them apart as JSON', async () => {
  const body = JSON.parse((await make('--name', 'ci', '--role', 'viewer', '-o', 'json')).stdout);
  expect(body).toEqual({
    name: 'ci',
    role: 'viewer',
    expires: null,
    token: expect.any(String),
    line: `ci:viewer:sha256:${hashOf(body.token)}`,
  });
});

it.each([60, 80])('says on %i columns what to do with them, in whole words', async (columns) => {
  const argv = ['token', 'new', '--name', 'anna', '--role', 'operator'];
  const { stderr } = await cli(argv, { env: {}, tty: true, columns });
  const lines = stderr.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  const { stderr: piped } = await cli(argv, { env: {} });
  const sentence = (text: readonly string[]) => text.map((line) => line.trim()).join(' ');
  expect(sentence(piped.trimEnd().split('\n'))).toBe(sentence(lines));
});

it.each([
  ['--name', 'daemon', '--role', 'viewer'],
  ['--name', 'a:b', '--role', 'viewer'],
  ['--name', 'a', '--role', 'root'],
  ['--name', 'a', '--role', 'viewer', '--expires', 'tomorrow'],
  ['--name', 'a', '--role', 'viewer', '--expires', '2026-11-20'],
  ['--role', 'viewer'],
])('refuses %j', async (...argv) => {
  expect(await make(...argv)).toMatchObject({ code: 64, stdout: '' });
});

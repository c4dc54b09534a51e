// Directories that cannot be made or used, given to the built binary: it says so and ends. Node's own recursive mkdir
// would retry indefinitely below /proc, deaf to SIGTERM; the deadline ends that with SIGKILL and fails the test.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { firstRows } from '../support/effort.ts';
import { runCli as run } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const dir = temporaryDirectory('unusable');
const file = join(dir, 'file');
writeFileSync(file, '');

const UNUSABLE = [
  ['is below /proc, where mkdir answers "no such file"', '/proc/cardpoll/x', 'ENOENT'],
  ['is below /sys, where no one may create any', '/sys/cardpoll', 'EPERM|EACCES|EROFS'],
  ['lies below a file', join(file, 'x'), 'ENOTDIR'],
  ['is a file', file, 'ENOTDIR'],
] as const;

const runCli = (args: readonly string[]) => run(args, { timeoutMs: 60_000 });
const GATEWAY = ['--gateway-url', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'];

describe.each(firstRows(1, UNUSABLE))('a directory that %s', (_, path, reason) => {
  const saysWhy = expect.stringMatching(new RegExp(reason));

  it.each([
    ['--log-dir', ['daemon', '--log-dir', path, '--data-dir', ':memory:', ...GATEWAY]],
    ['--data-dir', ['daemon', '--data-dir', path, ...GATEWAY]],
    ['--data-dir of migrate', ['migrate', 'up', '--data-dir', path]],
  ])('ends with 78 and the reason: %s', async (_flag, args) => {
    expect(await runCli(args)).toMatchObject({ code: 78, stderr: saysWhy });
  });
});

it('a directory without a name is refused as a value', async () => {
  expect((await runCli(['daemon', '--log-dir', '', ...GATEWAY])).code).toBe(78);
  expect((await runCli(['daemon', '--data-dir', ' ', ...GATEWAY])).code).toBe(78);
});

it('a data directory that is there but cannot be written ends with 78', async () => {
  expect(await cliHere(['migrate', 'up', '--data-dir', '/sys/kernel'])).toMatchObject({ code: 78 });
});

it.each([
  ['is missing', join(dir, 'missing'), 'ENOENT'],
  ['is a file', file, 'ENOTDIR'],
  ['takes no directories', '/proc', 'ENOENT'],
])('the demo ends with 74 when the temporary directory %s', async (_, path, reason) => {
  const { code, stderr } = await run(['demo', '--listen', '127.0.0.1:0'], { env: { TMPDIR: path } });
  expect([code, stderr]).toEqual([
    74,
    expect.stringMatching(`keep its logs in ${path}: ${reason}.*hint: set TMPDIR`),
  ]);
});

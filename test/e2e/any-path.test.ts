// A clone whose path no shell, URL or glob takes as it is: it builds there, and what it builds runs there, with such directories for
// everything it writes.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { REPOSITORY } from '../support/markdown.ts';
import { runCli, spawnCli } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const BUILT_FROM = ['bin', 'deploy/receivers', 'package.json', 'scripts', 'src'];
const ICCID = '8986001234567890123';

const clone = join(temporaryDirectory('any path'), 'some where', 'ä 项目 %41#?');
const program = [process.execPath, join(clone, 'bin/cardpoll.js')] as const;
const directory = (name: string) => join(clone, `its ${name}#%20`);
const env = { HOME: directory('home'), TMPDIR: directory('tmp'), LANG: 'C', LC_ALL: undefined };

beforeAll(async () => {
  for (const name of BUILT_FROM) cpSync(join(REPOSITORY, name), join(clone, name), { recursive: true });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(clone, 'node_modules'));
  for (const name of ['home', 'tmp', 'logs']) mkdirSync(directory(name));
  const build = await runCli([], { program: [process.execPath, join(clone, 'scripts/build.js')], env });
  expect(build).toMatchObject({ code: 0, stderr: '' });
});

it('the built binary says its version', async () => {
  const { code, stdout } = await runCli(['version'], { program, env });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^cardpoll \d/)]);
});

it('the log search finds a card', async () => {
  const line = `{"time":"2026-02-01T10:00:00Z","iccid":"${ICCID}","msg":"polled"}\n`;
  writeFileSync(join(directory('logs'), 'worker ä.log'), line);
  const args = ['logs', '--roots', directory('logs'), '--iccid', ICCID, '--count-only'];
  expect(await runCli(args, { program, env })).toMatchObject({ code: 0, stdout: '1\n' });
});

it('the demo starts, and keeps its cards in such a directory', async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const args = ['demo', '--cards', '100', '--listen', listen, '--data-dir', directory('data')];
  const demo = spawnCli(args, { program, env });
  await demo.waitForLine(/^API on /);
  expect(await demo.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
  const status = await runCli(['migrate', 'status', '--data-dir', directory('data')], { program, env });
  expect(status).toMatchObject({ code: 0, stderr: `database: embedded, in ${directory('data')}\n` });
});

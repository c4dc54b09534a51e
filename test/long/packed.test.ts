// What `npm pack` makes, installed into an empty directory where there is no compiler, no install script runs and no
// optional package is taken: the binary works, demo and log search among it, and man finds the manual.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { runCli, spawnCli } from '../support/processes.ts';
import { programPath } from '../support/provision.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const directory = temporaryDirectory('packed');
const installed = join(directory, 'empty/node_modules');
/** Node and npm, and nothing else that a PATH has. */
const PATH = join(directory, 'path');

function npm(cwd: string, ...args: string[]): void {
  execFileSync(join(PATH, 'npm'), [...args, '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd,
    env: { HOME: process.env.HOME, PATH },
    stdio: 'pipe',
  });
}

it('is installed without a compiler, scripts and optional packages', () => {
  for (const name of ['path', 'empty', 'packed']) mkdirSync(join(directory, name));
  symlinkSync(process.execPath, join(PATH, 'node'));
  symlinkSync(realpathSync(programPath('npm')), join(PATH, 'npm'));
  // The bundle is built before the tests run.
  npm(ROOT, 'pack', '--pack-destination', join(directory, 'packed'));
  const [archive = ''] = readdirSync(join(directory, 'packed'));
  const flags = ['--omit=optional', '--prefer-offline'];
  npm(join(directory, 'empty'), 'install', ...flags, join(directory, 'packed', archive));
  expect(readdirSync(installed)).toContain('fastify');
  expect(readdirSync(installed)).not.toContain('zlib-sync');
});

const here = {
  program: [join(installed, '.bin/cardpoll')],
  cwd: join(directory, 'empty'),
  env: { PATH },
} as const;

it('runs', async () => {
  expect(await runCli(['version'], here)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^cardpoll \d/),
    stderr: '',
  });
});

it('runs the demo', async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const demo = spawnCli(['demo', '--cards', '200', '--listen', listen], here);
  await demo.waitForLine(/200 cards {2}realname/);
  const screen = await runCli(['dashboard', '--once', '--url', `http://${listen}`], here);
  expect(screen).toMatchObject({ code: 0, stdout: expect.stringContaining('realname'), stderr: '' });
  expect(await demo.stop('SIGINT')).toMatchObject({ code: 0 });
});

it('searches gzip logs', async () => {
  const logs = join(directory, 'logs');
  mkdirSync(logs);
  const line =
    '{"level":"info","time":"2026-02-01T08:00:00.000+08:00","iccid":"89860012345678901234","msg":"实名检查完成"}\n';
  writeFileSync(join(logs, 'worker.log-20260202.gz'), gzipSync(line.repeat(3)));
  const args = ['logs', '--roots', logs, '--iccid', '89860012345678901234', '--count-only'];
  const env = { PATH, XDG_CACHE_HOME: directory };
  expect(await runCli(args, { ...here, env })).toMatchObject({ code: 0, stdout: '3\n' });
});

it('is linked with the manual, and man finds it', () => {
  const prefix = join(directory, 'prefix');
  npm(join(installed, 'cardpoll'), 'install', '--global', '--prefix', prefix, '--offline', '.');
  const man = programPath('man', { debianPackage: 'man-db' });
  for (const page of ['cardpoll', 'cardpoll-daemon', 'cardpoll.yaml']) {
    const found = execFileSync(man, ['-M', join(prefix, 'share/man'), '-w', page], { encoding: 'utf8' });
    expect(found).toMatch(new RegExp(`/${page}\\.[158]\n$`));
  }
});

// What `npm pack` makes, installed by the oldest supported Node into an empty directory where there is no compiler, no
// install script runs and no optional package is taken: npm does not warn, the packages are those of the lock file, the
// binary works, demo and log search among it, and man finds the manual.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { freePort } from '../support/free-port.ts';
import { runCli, spawnCli } from '../support/processes.ts';
import { programPath } from '../support/provision.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const directory = temporaryDirectory('packed');
const installed = join(directory, 'empty/node_modules');
const OLDEST = `${manifest.engines.node.replace('>=', '')}.0`;
const NODE_PACKAGE = `node-linux-${process.arch}`;
/** The oldest Node, and nothing else that a PATH has. */
const PATH = join(directory, 'node/node_modules', NODE_PACKAGE, 'bin');

/** @returns what npm reported. */
function npm(cwd: string, args: readonly string[], node = join(PATH, 'node')): string {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const { status, stderr } = spawnSync(node, [realpathSync(programPath('npm')), ...args, ...flags], {
    cwd,
    // The authority of a proxy before the registry: this Node does not read the npmrc that names it for the other one.
    env: { HOME: process.env.HOME, NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS, PATH },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`);
  return stderr;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

beforeAll(() => {
  for (const name of ['node', 'empty', 'packed']) mkdirSync(join(directory, name));
  npm(join(directory, 'node'), ['install', `${NODE_PACKAGE}@${OLDEST}`], process.execPath);
});

it('is installed with the packages of the lock file, without a compiler, scripts and optional packages', () => {
  // The binary is built before the tests run.
  npm(ROOT, ['pack', '--pack-destination', join(directory, 'packed')]);
  const [archive = ''] = readdirSync(join(directory, 'packed'));
  const file = join(directory, 'packed', archive);
  expect(npm(join(directory, 'empty'), ['install', '--omit=optional', file])).not.toContain('npm warn');
  expect(readdirSync(installed).filter((name) => !name.startsWith('.'))).toEqual(['cardpoll']);
  const { packages } = readJson(join(ROOT, 'package-lock.json')) as {
    packages: Record<string, { version: string; inBundle?: true; devOptional?: true }>;
  };
  const locked = Object.entries(packages).filter(([, entry]) => entry.inBundle && !entry.devOptional);
  expect(locked.length).toBeGreaterThan(100);
  for (const [path, { version }] of locked) {
    expect(readJson(join(installed, 'cardpoll', path, 'package.json')), path).toMatchObject({ version });
  }
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
  npm(join(installed, 'cardpoll'), ['install', '--global', '--prefix', prefix, '--offline', '.']);
  const man = programPath('man', { debianPackage: 'man-db' });
  for (const page of ['cardpoll', 'cardpoll-daemon', 'cardpoll.yaml']) {
    const found = execFileSync(man, ['-M', join(prefix, 'share/man'), '-w', page], { encoding: 'utf8' });
    expect(found).toMatch(new RegExp(`/${page}\\.[158]\n$`));
  }
});

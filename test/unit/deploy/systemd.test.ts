// The shipped units, judged by systemd itself, and what they say about the daemon compared with the daemon.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { ALL_SETTINGS, SETTINGS } from '../../../src/config/settings/settings.ts';
import { programPath } from '../../support/provision.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SHIPPED = join(ROOT, 'deploy/systemd');
const SERVICES = ['cardpoll.service', 'cardpoll@.service', 'cardpoll-cleanup.service'];
const DAEMONS = SERVICES.slice(0, 2);
const MOST_EXPOSED = 1.4;

const run = promisify(execFile);
const analyze = (...args: string[]) =>
  run(programPath('systemd-analyze', { debianPackage: 'systemd' }), args, { cwd: dir });
const unit = (name: string) => readFileSync(join(SHIPPED, name), 'utf8');
const values = (text: string, key: string) =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map((match) => match[1] ?? '');

let dir: string;
beforeAll(() => {
  dir = temporaryDirectory('units');
  // Verified as if installed: the binary is where the clone has it.
  for (const name of readdirSync(SHIPPED)) {
    writeFileSync(
      join(dir, name),
      unit(name).replaceAll('/usr/bin/cardpoll', `"${join(ROOT, 'bin/cardpoll.js')}"`),
    );
  }
});

it('verify without a word', async () => {
  const units = readdirSync(dir).map((name) => `./${name}`);
  expect(await analyze('verify', '--man=no', ...units)).toEqual({ stdout: '', stderr: '' });
});

it('does see a mistake', async () => {
  writeFileSync(
    join(dir, 'broken.service'),
    unit('cardpoll.service').replace('KillMode=mixed', 'KillMode=all'),
  );
  const { stderr } = await analyze('verify', '--man=no', './broken.service').catch((error) => error);
  rmSync(join(dir, 'broken.service'));
  expect(stderr).toContain('kill mode');
});

it.each(SERVICES)('%s leaves little exposed', async (name) => {
  const { stdout } = await analyze('security', '--offline=true', '--no-pager', `./${name}`);
  const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
  expect(Number(level)).toBeLessThanOrEqual(MOST_EXPOSED);
});

it('all services are confined in the same way', () => {
  const confinement = (name: string) =>
    unit(name)
      .match(/# What it may do to the machine[^[]*/)?.[0]
      .trim();
  expect(confinement('cardpoll.service')).toBeTruthy();
  expect(SERVICES.map(confinement)).toEqual(SERVICES.map(() => confinement('cardpoll.service')));
});

describe.each(DAEMONS)('%s', (name) => {
  const text = unit(name);

  it('gives a drain with the usual settings the time it takes', () => {
    const [stopSeconds] = values(text, 'TimeoutStopSec');
    expect(Number(stopSeconds) * 1_000).toBeGreaterThan(SETTINGS.polling.drainTimeoutMs.default + 30_000);
  });

  it('leaves a wrong configuration alone and repairs the rest', () => {
    expect(values(text, 'RestartPreventExitStatus')).toEqual(['78']);
    expect(values(text, 'Restart')).toEqual(['on-failure']);
    expect(values(text, 'RestartForceExitStatus')).toEqual(['SIGHUP']);
  });

  it('hands over every secret of the daemon, and no secret in the environment', () => {
    const secrets = ALL_SETTINGS.filter(({ file, scopes }) => file !== null && scopes.includes('daemon'));
    const given = values(text, 'LoadCredential').map((value) => value.split(':')[0]?.replaceAll('.', '_'));
    for (const { env } of secrets) expect(given).toContain(env?.replace('CARDPOLL_', '').toLowerCase());
    expect(values(text, 'Environment').join(' ')).not.toMatch(/TOKEN|KEY|SECRET|URL/);
  });
});

it('sysusers.d makes the user that tmpfiles.d and the units name', {
  skip: process.getuid?.() !== 0,
}, async () => {
  const root = temporaryDirectory('root');
  mkdirSync(join(root, 'etc'));
  const at = `--root=${root}`;
  const debianPackage = 'systemd';
  const deploy = join(ROOT, 'deploy');
  await run(programPath('systemd-sysusers', { debianPackage }), [at, `${deploy}/sysusers.d/cardpoll.conf`]);
  await run(programPath('systemd-tmpfiles', { debianPackage }), [
    at,
    '--create',
    `${deploy}/tmpfiles.d/cardpoll.conf`,
  ]);
  expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toMatch(/^cardpoll:/m);
  expect(readdirSync(join(root, 'var/log'))).toEqual(['cardpoll']);
  for (const name of SERVICES) expect(values(unit(name), 'User')).toEqual(['cardpoll']);
});

// The packages that a release contains are those of the lock file, as they are installed.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { productionPackages } from '../../../scripts/production-packages.js';
import { REPOSITORY } from '../../support/markdown.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const LOCKED = {
  '': {},
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/a/node_modules/b': { version: '2.0.0', integrity: 'sha512-b2' },
  'node_modules/b': { version: '1.0.0', integrity: 'sha512-b1', dev: true },
  'node_modules/darwin': { version: '1.0.0', integrity: 'sha512-d', optional: true },
};

function repository(installed: object): string {
  const root = temporaryDirectory('repository');
  mkdirSync(join(root, 'node_modules'));
  const write = (path: string, packages: object) =>
    writeFileSync(join(root, path), JSON.stringify({ packages }));
  write('package-lock.json', LOCKED);
  write('node_modules/.package-lock.json', installed);
  return root;
}
const without = (path: string) =>
  Object.fromEntries(Object.entries(LOCKED).filter(([one]) => one !== path && one !== 'node_modules/darwin'));

it('leaves out what is for development or for other machines', () => {
  expect(productionPackages(repository(without('')))).toEqual([
    'node_modules/a',
    'node_modules/a/node_modules/b',
  ]);
});

it('refuses packages that are not installed', () => {
  const root = repository(without('node_modules/a/node_modules/b'));
  expect(() => productionPackages(root)).toThrow(
    /\(node_modules\/a\/node_modules\/b 2\.0\.0\); run: npm ci$/,
  );
});

it('refuses packages of another content', () => {
  const root = repository({ ...without(''), 'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' } });
  expect(() => productionPackages(root)).toThrow(/node_modules\/a 1\.0\.0/);
});

it('the Debian package refuses what another package manager installed, in one sentence', () => {
  const root = repository({});
  rmSync(join(root, 'node_modules/.package-lock.json'));
  for (const name of ['scripts', 'package.json'])
    cpSync(join(REPOSITORY, name), join(root, name), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/package-deb.js')], {
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toBe(`package:deb: node_modules was not installed by npm; run: npm ci\n`);
});

it('accepts an optional package that could be installed', () => {
  expect(productionPackages(repository(LOCKED))).toContain('node_modules/darwin');
});

// What a clone says that cannot be built or started: one sentence, before anything breaks.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { importRefusal, nodeRefusal } from '../../../bin/refusals.js';
import { REPOSITORY } from '../../support/markdown.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** A clone with the two packages that it needs, as npm leaves it. */
function clone(): string {
  const root = temporaryDirectory('clone');
  for (const name of ['bin', 'scripts/check-setup.js'])
    cpSync(join(REPOSITORY, name), join(root, name), { recursive: true });
  const manifest = { type: 'module', engines: { node: '>=20.19' }, dependencies: { a: '1' } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  for (const name of ['a', 'b']) addPackage(root, name);
  const packages = { 'node_modules/a': {}, 'node_modules/b': {} };
  writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  return root;
}

function addPackage(root: string, name: string): void {
  mkdirSync(join(root, 'node_modules', name), { recursive: true });
  writeFileSync(join(root, 'node_modules', name, 'package.json'), '{}');
}

function run(root: string, script: string, ...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [join(root, script), ...args], { encoding: 'utf8' });
  return { status, stderr };
}

const check = (root: string, ...args: string[]) => run(root, 'scripts/check-setup.js', ...args);
const refused = (sentence: RegExp) => ({ status: 78, stderr: expect.stringMatching(sentence) });

it('a complete clone passes in silence', () => {
  expect(check(clone())).toEqual({ status: 0, stderr: '' });
});

it.each(['a', 'b'])(
  'the missing package %s is named, whether it is asked for or needed by one that is',
  (name) => {
    const root = clone();
    spawnSync('rm', ['-r', join(root, 'node_modules', name)]);
    expect(check(root)).toEqual(refused(new RegExp(`node_modules/${name} is missing .*npm ci`)));
  },
);

it.each(['node_modules', 'node_modules/.package-lock.json'])(
  'an installation without %s was interrupted, or never made',
  (path) => {
    const root = clone();
    spawnSync('rm', ['-r', join(root, path)]);
    expect(check(root)).toEqual(refused(/missing or incomplete .*npm ci/));
  },
);

it('a clone where nothing can be written is named with the reason', () => {
  const root = clone();
  // No one can make a directory below a file, not even root.
  writeFileSync(join(root, 'node_modules/.cache'), '');
  expect(check(root)).toEqual(refused(/\.cache\/cardpoll cannot be written: .*copy the repository/));
});

it('a clone is built by its owner, also below a directory that only others may write', () => {
  const root = join(temporaryDirectory('parent'), 'clone');
  cpSync(clone(), root, { recursive: true });
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (nobody.uid !== undefined) spawnSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, root]);
  chmodSync(join(root, '..'), 0o555);
  const checkAsOwner = () => {
    const command = [join(root, 'scripts/check-setup.js')];
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', ...nobody });
    return { status, stderr };
  };
  expect(checkAsOwner()).toEqual({ status: 0, stderr: '' });
  mkdirSync(join(root, 'dist'));
  // It belongs to root where the tests run as root.
  chmodSync(join(root, 'dist'), 0o555);
  expect(checkAsOwner()).toEqual(refused(/dist cannot be written: EACCES/));
  chmodSync(join(root, '..'), 0o755);
});

it('several missing packages are counted in one sentence', () => {
  const root = clone();
  const named = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`node_modules/c${i + 1}`, {}]));
  const checked = (count: number) => {
    writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages: named(count) }));
    return check(root);
  };
  expect(checked(2)).toEqual(refused(/: node_modules\/c1 and node_modules\/c2 are missing \(/));
  expect(checked(6)).toEqual(refused(/c4, node_modules\/c5 and 1 more are missing \(/));
  expect(checked(9)).toEqual(refused(/c4, node_modules\/c5 and 4 more are missing \(/));
});

it.each(['#', '?', '%41'])('tests are refused in a path with %s, which vitest cannot run in', (name) => {
  const root = join(temporaryDirectory('odd'), name);
  cpSync(clone(), root, { recursive: true });
  expect(check(root)).toMatchObject({ status: 0 });
  expect(check(root, 'tests')).toEqual(refused(/cannot be tested.*#, \? or %/));
});

it.each(['v20.19.0', 'v20.19.1', 'v21.0.0', 'v22.1.0', 'v100.0.0'])('Node %s is accepted', (version) => {
  expect(nodeRefusal(version)).toBeNull();
});

it.each(['v20.18.9', 'v18.20.8', 'v16.20.2', 'v2.99.0'])(
  'Node %s is refused, with the least that runs',
  (version) => {
    expect(nodeRefusal(version)).toBe(
      `needs Node 20.19 or later; this is ${version} (hint: install a newer Node, and put it first on PATH)`,
    );
  },
);

it('a binary without its bundle says that it is not built', () => {
  expect(run(clone(), 'bin/cardpoll.js', 'version')).toEqual(
    refused(/^cardpoll: is not built: .*npm run build/),
  );
});

it('a binary without a package says which', () => {
  const root = clone();
  mkdirSync(join(root, 'dist'));
  writeFileSync(join(root, 'dist/main.js'), "import 'commander';");
  expect(run(root, 'bin/cardpoll.js', 'version')).toEqual(refused(/completely: .*'commander'.*npm ci/));
});

it('any other failure of the bundle is left as it is', () => {
  expect(() => importRefusal(new TypeError('a bug'))).toThrow('a bug');
});

it('pnpm runs the install scripts that npm runs', () => {
  const read = (name: string) => readFileSync(join(REPOSITORY, name), 'utf8');
  expect(parse(read('pnpm-workspace.yaml')).allowBuilds).toEqual(
    JSON.parse(read('package.json')).allowScripts,
  );
});

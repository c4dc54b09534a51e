// A build names a commit only if that commit is of its own source.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildCommit } from '../../../scripts/build-commit.js';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ENV = { PATH: process.env.PATH };
const git = (root: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
    cwd: root,
    env: ENV,
    encoding: 'utf8',
  }).trim();

function repository(): string {
  const root = temporaryDirectory('repository');
  git(root, 'init', '--quiet');
  writeFileSync(join(root, 'a.ts'), '1');
  git(root, 'add', '.');
  git(root, 'commit', '--quiet', '--message=one');
  return root;
}

it('A build in a clone names the commit that is checked out', () => {
  const root = repository();
  // A tag is a name that can move.
  git(root, 'tag', '--annotate', '--message=x', 'v1');
  expect(buildCommit(root, ENV)).toBe(git(root, 'rev-parse', 'HEAD').slice(0, 12));
});

it('A build of changed files says so', () => {
  const root = repository();
  writeFileSync(join(root, 'a.ts'), '2');
  expect(buildCommit(root, ENV)).toBe(`${git(root, 'rev-parse', 'HEAD').slice(0, 12)}-dirty`);
});

it('A build without a history does not know its commit', () => {
  expect(buildCommit(temporaryDirectory('tarball'), ENV)).toBe('unknown');
});

it('A build without git does not know its commit', () => {
  expect(buildCommit(repository(), { PATH: '/nowhere' })).toBe('unknown');
});

it('A source unpacked in another repository does not take the commit of that one', () => {
  const inside = join(repository(), 'cardpoll-0.3.0');
  mkdirSync(inside);
  expect(buildCommit(inside, ENV)).toBe('unknown');
});

it('A container build takes the commit that it is given', () => {
  const commit = '0123456789abcdef0123456789abcdef01234567';
  expect(buildCommit(temporaryDirectory('image'), { ...ENV, SOURCE_COMMIT: commit })).toBe('0123456789ab');
});

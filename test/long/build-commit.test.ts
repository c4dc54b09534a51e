// A build in a repository names its commit, and that it was changed. The rest is in test/unit/scripts/build-commit.test.ts; this
// needs git, which a machine that runs npm test may lack.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildCommit } from '../../scripts/build-commit.js';
import { temporaryDirectory } from '../support/temporary-directory.ts';

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

it('A source unpacked in another repository does not take the commit of that one', () => {
  const inside = join(repository(), 'cardpoll-0.3.0');
  mkdirSync(inside);
  expect(buildCommit(inside, ENV)).toBe('unknown');
});

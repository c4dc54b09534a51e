// A build names a commit only if that commit is of its own source. test/long/build-commit.test.ts has the builds in repositories.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildCommit } from '../../../scripts/build-commit.js';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ENV = { PATH: process.env.PATH };

it('A build without a history does not know its commit', () => {
  expect(buildCommit(temporaryDirectory('tarball'), ENV)).toBe('unknown');
});

it('A build without git does not know its commit', () => {
  const root = temporaryDirectory('repository');
  mkdirSync(join(root, '.git'));
  expect(buildCommit(root, { PATH: '/nowhere' })).toBe('unknown');
});

it('A container build takes the commit that it is given', () => {
  const commit = '0123456789abcdef0123456789abcdef01234567';
  expect(buildCommit(temporaryDirectory('image'), { ...ENV, SOURCE_COMMIT: commit })).toBe('0123456789ab');
});

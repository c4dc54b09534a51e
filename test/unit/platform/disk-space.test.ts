// On the disk this runs on: what the doctor is told of a directory that is there, is not yet, or cannot be.
import { existsSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { diskSpaceOf } from '../../../src/platform/disk-space.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('of a directory that is there', async () => {
  const dir = temporaryDirectory('disk');
  const { bsize, blocks, files } = statfsSync(dir);
  const found = await diskSpaceOf(dir);
  expect(found).toMatchObject({ existing: dir, exists: true, totalBytes: bsize * blocks });
  expect(found.freeBytes).toBeGreaterThan(0);
  expect(found.freeBytes % bsize).toBe(0);
  expect(found.freeBytes).toBeLessThanOrEqual(found.totalBytes);
  expect(found.freeFiles === null).toBe(files === 0);
});

it('of one that is not there: of the nearest above it, and nothing is made', async () => {
  const dir = temporaryDirectory('disk');
  const wanted = join(dir, 'not', 'there');
  expect(await diskSpaceOf(wanted)).toMatchObject({ existing: dir, exists: false });
  expect(existsSync(join(dir, 'not'))).toBe(false);
});

it('of a file: it cannot be', async () => {
  const file = join(temporaryDirectory('disk'), 'file');
  writeFileSync(file, '');
  await expect(diskSpaceOf(file)).rejects.toMatchObject({
    kind: 'config',
    code: 'directory_unusable',
    message: `${file} cannot be written: ${file} is not a directory`,
    hint: expect.stringContaining('choose another'),
  });
  await expect(diskSpaceOf(join(file, 'below'))).rejects.toMatchObject({ code: 'directory_unusable' });
});

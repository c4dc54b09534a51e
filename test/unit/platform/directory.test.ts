import { existsSync, mkdirSync, statfsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory, readDiskSpace } from '../../../src/platform/directory.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let dir: string;
beforeEach(() => {
  dir = temporaryDirectory('make');
});

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('makeDirectory', () => {
  it('makes every missing level with the mode, and leaves those that are there as they are', () => {
    mkdirSync(join(dir, 'a'), { mode: 0o755 });
    makeDirectory(join(dir, 'a', 'b', 'c/'), { mode: 0o700 });
    expect(['a', 'a/b', 'a/b/c'].map((path) => modeOf(join(dir, path)))).toEqual([0o755, 0o700, 0o700]);
    makeDirectory(join(dir, 'a'), { mode: 0o700 });
    expect(modeOf(join(dir, 'a'))).toBe(0o755);
  });

  it('takes .. behind a missing level, and links to directories', () => {
    makeDirectory(`${dir}/x/../y`);
    symlinkSync(join(dir, 'y'), join(dir, 'link'));
    makeDirectory(`${dir}/link/z`);
    expect(statSync(join(dir, 'y', 'z')).isDirectory()).toBe(true);
  });

  it('throws what the system says, with the path', () => {
    writeFileSync(join(dir, 'file'), '');
    symlinkSync(join(dir, 'nowhere'), join(dir, 'dangling'));
    symlinkSync(join(dir, 'loop'), join(dir, 'loop'));
    const codeOf = (path: string) => {
      try {
        makeDirectory(path);
        return 'made';
      } catch (error) {
        expect(String(error)).toContain(path);
        return (error as NodeJS.ErrnoException).code;
      }
    };
    expect(codeOf('/proc/cardpoll')).toBe('ENOENT');
    expect(codeOf(join(dir, 'file'))).toBe('ENOTDIR');
    expect(codeOf(join(dir, 'file', 'x', 'y'))).toBe('ENOTDIR');
    expect(codeOf(join(dir, 'dangling'))).toBe('ENOENT');
    expect(codeOf(join(dir, 'loop'))).toBe('ELOOP');
    expect(codeOf('')).toBe('ENOENT');
  });
});

describe('readDiskSpace', () => {
  it('an existing directory has its own space', async () => {
    const dir = temporaryDirectory('disk');
    const { bsize, blocks, files } = statfsSync(dir);
    const found = await readDiskSpace(dir);
    expect(found).toMatchObject({ existing: dir, exists: true, totalBytes: bsize * blocks });
    expect(found.freeBytes).toBeGreaterThan(0);
    expect(found.freeBytes % bsize).toBe(0);
    expect(found.freeBytes).toBeLessThanOrEqual(found.totalBytes);
    expect(found.freeFiles === null).toBe(files === 0);
  });

  it('a missing directory has the space of the nearest one above it, and nothing is made', async () => {
    const dir = temporaryDirectory('disk');
    const wanted = join(dir, 'not', 'there');
    expect(await readDiskSpace(wanted)).toMatchObject({ existing: dir, exists: false });
    expect(existsSync(join(dir, 'not'))).toBe(false);
  });

  it('a file has no space for others', async () => {
    const file = join(temporaryDirectory('disk'), 'file');
    writeFileSync(file, '');
    await expect(readDiskSpace(file)).rejects.toMatchObject({
      kind: 'config',
      code: 'directory_unusable',
      message: `${file} cannot be written: ${file} is not a directory`,
      hint: expect.stringContaining('choose another'),
    });
    await expect(readDiskSpace(join(file, 'below'))).rejects.toMatchObject({ code: 'directory_unusable' });
  });
});

// Paths of settings and secrets: only a regular file of a sensible size is read, and nothing else is waited for.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSmallFile } from '../../../src/platform/small-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory('small-file');
const path = (name: string) => join(directory, name);

it('reads a regular file, also through a link and when its size is unknown', () => {
  writeFileSync(path('text'), 'größe\n');
  symlinkSync(path('text'), path('link'));
  expect(readSmallFile(path('link'))).toBe('größe\n');
  expect(readSmallFile('/proc/self/status')).toContain('Name:');
  writeFileSync(path('largest'), 'x'.repeat(1024 * 1024));
  expect(readSmallFile(path('largest'))).toHaveLength(1024 * 1024);
});

it('refuses everything else at once, and names the path', () => {
  execFileSync('mkfifo', [path('fifo')]);
  mkdirSync(path('folder'));
  writeFileSync(path('huge'), '');
  truncateSync(path('huge'), 3 * 1024 ** 3);
  for (const [file, why] of [
    [path('fifo'), 'is a FIFO, not a regular file'],
    [path('folder'), 'is a directory, not a regular file'],
    ['/dev/zero', 'is a device or socket, not a regular file'],
    [path('huge'), 'is larger than 1 MiB'],
  ] as const)
    expect(() => readSmallFile(file)).toThrow(`${file} ${why}`);
  expect(() => readSmallFile(path('missing'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});

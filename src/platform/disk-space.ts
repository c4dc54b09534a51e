// Free space on the disk of a directory, and whether it is writable. Used by the doctor, which creates nothing, since the
// files would belong to the user who runs it: it looks at the nearest existing directory.
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CardpollError, messageOf } from './errors.ts';

interface DiskSpace {
  /** The directory, or its nearest existing parent. */
  readonly existing: string;
  readonly exists: boolean;
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Number of files that can still be created; null when the file system sets no limit. */
  readonly freeFiles: number | null;
}

/** @throws CardpollError `config` / `directory_unusable` when the directory cannot be written or created. */
export async function diskSpaceOf(dir: string): Promise<DiskSpace> {
  const wanted = resolve(dir);
  for (let existing = wanted; ; existing = dirname(existing)) {
    try {
      if (!(await stat(existing)).isDirectory()) throw new Error(`${existing} is not a directory`);
      await access(existing, constants.W_OK | constants.X_OK);
      const { bavail, bsize, blocks, ffree, files } = await statfs(existing);
      return {
        existing,
        exists: existing === wanted,
        freeBytes: bavail * bsize,
        totalBytes: blocks * bsize,
        freeFiles: files === 0 ? null : ffree,
      };
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (missing && existing !== dirname(existing)) continue;
      throw new CardpollError(
        'config',
        'directory_unusable',
        `${dir} cannot be written: ${messageOf(error)}`,
        { hint: 'let the user of the daemon write there, or choose another directory' },
      );
    }
  }
}

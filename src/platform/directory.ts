// Directories: creates one with its parents, for logs, indexes, contexts and the embedded database; lists the names in one, for
// the log search; and for the doctor reads the free space of its disk, and whether it is writable.
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CardpollError, messageOf } from './errors.ts';

interface MakeDirectoryOptions {
  /** Mode of each created directory. */
  readonly mode?: number;
}

/**
 * Does nothing when the directory exists. Callers turn its errors into their own. It replaces Node's `recursive`, which retries
 * indefinitely and cannot be interrupted where a parent exists but accepts no directories (below /proc, for example).
 * @throws the system's error for the level that could not be created.
 */
export function makeDirectory(path: string, options: MakeDirectoryOptions = {}): void {
  const missing: string[] = [];
  let at = path;
  for (; !exists(at); at = dirname(at)) missing.push(at);
  // Versions of Node name different paths when the file is above a missing level.
  if (missing.length > 0 && !statSync(at).isDirectory()) throw notADirectory(path);
  for (const level of missing.reverse()) makeLevel(level, options);
  // Also checked if the path existed before: it may be a file.
  if (!statSync(path).isDirectory()) throw notADirectory(path);
}

/** `/` and `.` exist, so that the recursion ends. */
function exists(path: string): boolean {
  return path === dirname(path) || statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function makeLevel(path: string, options: MakeDirectoryOptions): void {
  try {
    mkdirSync(path, options);
  } catch (error) {
    // Another process was faster, or the path is `..` of a new level; the next level shows whether it is a directory.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function notADirectory(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR', path });
}

/** The names in a directory; empty if it is unreadable. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * Creates nothing, since the files would belong to the user who runs the doctor: checks the nearest existing directory.
 * @throws CardpollError `config` / `directory_unusable` when the directory cannot be written or created.
 */
export async function readDiskSpace(dir: string) {
  const wanted = resolve(dir);
  for (let existing = wanted; ; existing = dirname(existing)) {
    try {
      if (!(await stat(existing)).isDirectory()) throw new Error(`${existing} is not a directory`);
      await access(existing, constants.W_OK | constants.X_OK);
      const { bavail, bsize, blocks, ffree, files } = await statfs(existing);
      return {
        /** The directory, or its nearest existing parent. */
        existing,
        exists: existing === wanted,
        freeBytes: bavail * bsize,
        totalBytes: blocks * bsize,
        /** Number of files that can still be created; null when the file system sets no limit. */
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

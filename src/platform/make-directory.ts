// Creates a directory with its parents, for logs, indexes, contexts and the embedded database. Callers turn its errors
// into their own. It replaces Node's `recursive`, which retries indefinitely and cannot be interrupted where a parent
// exists but accepts no directories (below /proc, for example).
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

interface MakeDirectoryOptions {
  /** Mode of each directory that is created. */
  readonly mode?: number;
}

/** Does nothing when the directory exists. @throws the system's error for the level that could not be created. */
export function makeDirectory(path: string, options: MakeDirectoryOptions = {}): void {
  const missing: string[] = [];
  for (let at = path; !exists(at); at = dirname(at)) missing.push(at);
  for (const level of missing.reverse()) makeLevel(level, options);
  // Checked also when the path existed before: it may be a file.
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

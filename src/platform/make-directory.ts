// Creates a directory with its parents. Used by whoever keeps files: logs, indexes, the embedded database. Callers turn
// what it throws into their own error; nobody uses Node's `recursive`, which tries for ever, and cannot be interrupted,
// where a parent exists and takes no directories (below /proc, say).
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

interface MakeDirectoryOptions {
  /** Of each directory that is created. */
  readonly mode?: number;
}

/** Does nothing when the directory is there. Throws the system's error of the level that could not be created. */
export function makeDirectory(path: string, options: MakeDirectoryOptions = {}): void {
  const missing: string[] = [];
  for (let at = path; !exists(at); at = dirname(at)) missing.push(at);
  for (const level of missing.reverse()) makeLevel(level, options);
  // Also where there was something all along: it may be a file.
  if (!statSync(path).isDirectory()) throw notADirectory(path);
}

/** `/` and `.` do, so that going up ends. */
function exists(path: string): boolean {
  return path === dirname(path) || statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function makeLevel(path: string, options: MakeDirectoryOptions): void {
  try {
    mkdirSync(path, options);
  } catch (error) {
    // Somebody else was faster, or it is `..` of a level just made; whether it is a directory shows with the next level.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function notADirectory(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR', path });
}

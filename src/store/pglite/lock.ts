// Keeps two processes from opening one embedded data directory, which would destroy it: PGlite itself checks nothing. Used by
// record-store.ts.
//
// The lock is a file next to the directory (inside are PGlite's own files). It names its holder by process id and start time,
// because process ids are reused: a process with another start time is another process. The lock does not work across machines,
// or across containers with separate process ids.
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { CardpollError } from '../../platform/errors.ts';
import { objectIn } from '../../platform/json.ts';

interface Holder {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process; null where the system does not report it. */
  readonly started: string | null;
}

/** @returns the function that releases the lock. Throws `busy` naming the holder's process id. */
export function lockDataDir(dataDir: string): () => void {
  const path = `${dataDir}.lock`;
  const own = JSON.stringify({ pid: process.pid, started: startTimeOf(process.pid) } satisfies Holder);
  while (!tryCreate(path, own)) {
    const found = read(path);
    if (found !== null) removeStale(path, found);
  }
  return () => {
    if (read(path) === own) unlinkSync(path);
  };
}

function tryCreate(path: string, content: string): boolean {
  // Written to a temporary file and linked, so that no process reads an incomplete lock.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

function removeStale(path: string, found: string): void {
  const holder = parse(found);
  if (holder !== null && isAlive(holder)) throw heldBy(holder, path);
  // Another process may have found the same stale lock and replaced it: the removed file is checked, and restored if it is new.
  const taken = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, taken);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (read(taken) !== found) tryLinkBack(taken, path);
  unlinkSync(taken);
}

function tryLinkBack(taken: string, path: string): void {
  try {
    linkSync(taken, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function heldBy(holder: Holder, path: string): CardpollError {
  return new CardpollError(
    'busy',
    'data_dir_locked',
    `the data directory is in use by process ${holder.pid}`,
    { hint: `Stop that process, or use another --data-dir. The lock is ${path}.` },
  );
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return startTimeOf(holder.pid) === holder.started;
}

function startTimeOf(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the command in parentheses, with any content; the start time is the 22nd.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function parse(content: string): Holder | null {
  const value = objectIn(content) as Partial<Holder> | null;
  return typeof value?.pid === 'number' ? { pid: value.pid, started: value.started ?? null } : null;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

// Keeps two processes from opening one embedded data directory, which would destroy it: PGlite itself checks nothing.
// Used by record-store.ts.
//
// The lock is a file beside the directory (inside, PGlite's own files live), naming its holder by process id and
// start time: ids are used again, a process that started at another instant is another process. It says nothing
// across machines or containers that see different processes.
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { CardpollError } from '../../platform/errors.ts';
import { objectIn } from '../../platform/json.ts';

interface Holder {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process; null where the system does not tell. */
  readonly started: string | null;
}

/** @returns the function that gives the lock up. Throws `busy` naming the holder's process id. */
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
  // Written to another file and linked, so that no process ever reads half a lock.
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
  // Whoever else found the same stale lock may have replaced it by now: what is taken away is looked at, and put back.
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
  // The second field is the command in parentheses and may hold anything; the start time is the 22nd.
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

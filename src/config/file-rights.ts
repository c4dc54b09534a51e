// Checks the permissions of the files that hold configuration. Used by reader.ts, profile.ts and load-module.ts.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FileRights } from '../platform/small-file.ts';
import type { ConfigFile } from './config-file.ts';

const OTHERS_MAY_READ = 0o004;
const OTHERS_MAY_WRITE = 0o002;
const GROUP_MAY_WRITE = 0o020;
/** In a directory with this bit users can replace only their own files. */
const STICKY = 0o1000;
/** `scheme://user:password@host` */
const PASSWORD_IN_URL = /^[a-z+-]+:\/\/[^/@]*:[^/@]+@/i;

/** @returns a message, or null. */
export function openToOthers(path: string): string | null {
  return mode(path) & OTHERS_MAY_READ ? `every user can read ${path}; run chmod 600 ${path}` : null;
}

/** A config file may be readable by all unless it contains a password, and writable by its owner and group only. */
export function badConfigRights(path: string, { values }: ConfigFile): string | null {
  if (mode(path) & OTHERS_MAY_WRITE) return `every user can write ${path}; run chmod o-w ${path}`;
  const holdsPassword = [...values.values()].some(
    ({ raw }) => typeof raw === 'string' && PASSWORD_IN_URL.test(raw),
  );
  if (!holdsPassword || openToOthers(path) === null) return null;
  return `every user can read ${path}, which holds a password; run chmod 600 ${path}`;
}

/**
 * A file that names files of secrets, and the servers they are sent to, must not belong to another user: root would read for that
 * user what only root may read. @param me the user id of this process. @returns a message, or null.
 */
export function changeableByAnotherUser(path: string, { uid, mode }: FileRights, me: number): string | null {
  if (uid !== 0 && uid !== me) return `user ${uid} can write ${path}; run chown root ${path}`;
  return mode & GROUP_MAY_WRITE ? `its group can write ${path}; run chmod g-w ${path}` : null;
}

/**
 * Code must not come from a file or a directory that every user can change; for root, not from another user's.
 * @param me the user id of this process. @returns a message, or null.
 */
export function changeableByOthers(path: string, me: number): string | null {
  const directory = dirname(path);
  const isOpen = (rights: number) => (rights & OTHERS_MAY_WRITE) !== 0;
  const isSticky = (mode(directory) & STICKY) !== 0;
  const open = isOpen(mode(path)) ? path : isOpen(mode(directory)) && !isSticky ? directory : null;
  if (open !== null) return `every user can write ${open}; run chmod o-w ${open}`;
  if (me !== 0) return null;
  const foreign = [path, directory].find((one) => statSync(one).uid !== 0);
  return foreign === undefined
    ? null
    : `root does not run the code of another user; run chown root ${foreign}`;
}

/** `hidden`: a parent directory is not accessible. An unreadable file counts as present: reading it reports the reason. */
export function presence(path: string): 'present' | 'absent' | 'hidden' {
  try {
    statSync(path);
    return 'present';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EACCES') return 'hidden';
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'present';
  }
}

/** The user id that determines the rights of this process. */
export function effectiveUser(): number {
  return process.geteuid?.() ?? 0;
}

function mode(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}

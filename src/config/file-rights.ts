// Checks the permissions of the files that hold configuration. Used by reader.ts,
// profile.ts and load-module.ts.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ConfigFile } from './config-file.ts';

const OTHERS_MAY_READ = 0o004;
const OTHERS_MAY_WRITE = 0o002;
/** In such a directory users can replace only files of their own. */
const STICKY = 0o1000;
/** `scheme://user:password@host` */
const PASSWORD_IN_URL = /^[a-z+-]+:\/\/[^/@]*:[^/@]+@/i;

/** @returns a message, or null. */
export function openToOthers(path: string): string | null {
  return mode(path) & OTHERS_MAY_READ ? `every user can read ${path}; run chmod 600 ${path}` : null;
}

/** A config file may be read by all unless it holds a password, and written by its owner and group only. */
export function badConfigRights(path: string, { values }: ConfigFile): string | null {
  if (mode(path) & OTHERS_MAY_WRITE) return `every user can write ${path}; run chmod o-w ${path}`;
  const holdsPassword = [...values.values()].some(
    ({ raw }) => typeof raw === 'string' && PASSWORD_IN_URL.test(raw),
  );
  if (!holdsPassword || openToOthers(path) === null) return null;
  return `every user can read ${path}, which holds a password; run chmod 600 ${path}`;
}

/** Code must not come from a file, or out of a directory, that every user can change. @returns a message, or null. */
export function changeableByOthers(path: string): string | null {
  const directory = dirname(path);
  const isOpen = (rights: number) => (rights & OTHERS_MAY_WRITE) !== 0;
  const isSticky = (mode(directory) & STICKY) !== 0;
  const open = isOpen(mode(path)) ? path : isOpen(mode(directory)) && !isSticky ? directory : null;
  return open === null ? null : `every user can write ${open}; run chmod o-w ${open}`;
}

/** `hidden`: a directory on the way may not be looked into. */
export function presence(path: string): 'present' | 'absent' | 'hidden' {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined ? 'absent' : 'present';
  } catch {
    return 'hidden';
  }
}

function mode(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}

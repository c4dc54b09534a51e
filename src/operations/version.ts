// Versions of objects that can be changed: a client may name the version that it has read, and the change is refused
// when the object has another one by then. Used by operations that change something, and by the admin API, where a
// version is an ETag.
import { createHash } from 'node:crypto';
import { CardpollError } from '../platform/errors.ts';

/** One of these versions, `any` for any existing object, or null without a condition. */
export type ExpectedVersion = readonly string[] | 'any' | null;

const LENGTH = 22;

/** @returns equal versions for equal state. @param state everything that a change can affect, as plain data. */
export function versionOf(state: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, LENGTH);
}

/** @throws CardpollError `conflict` when the object has changed since. */
export function requireVersion(present: string, expected: ExpectedVersion): void {
  if (expected === null || expected === 'any' || expected.includes(present)) return;
  throw new CardpollError('conflict', VERSION_CHANGED, 'it does not have the version in If-Match', {
    hint: 'it has been changed: read it again, and send its new ETag',
  });
}

export const VERSION_CHANGED = 'version_changed';

// Versions of what can be changed: whoever changes something may name the version he saw, and is refused when it is no
// longer that one. Used by the operations that change something, and by the admin API, which calls a version an ETag.
import { createHash } from 'node:crypto';
import { CardpollError } from '../platform/errors.ts';

/** Any of these, `any` that there is, or null: whatever it is. */
export type ExpectedVersion = readonly string[] | 'any' | null;

const LENGTH = 22;

/** Equal for equal state. @param state what a change can change, as plain data. */
export function versionOf(state: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, LENGTH);
}

/** Throws `conflict` when something has changed since. */
export function requireVersion(present: string, expected: ExpectedVersion): void {
  if (expected === null || expected === 'any' || expected.includes(present)) return;
  throw new CardpollError('conflict', VERSION_CHANGED, 'it is not in the version If-Match names', {
    hint: 'somebody has changed it: read it again, and send the ETag that comes with it',
  });
}

export const VERSION_CHANGED = 'version_changed';

// Reads a secret that a command sends to the daemon from a file, since every user of the machine can see command lines.
// Used by commands that take a secret. config/reader.ts reads the secrets of the configuration.
import { openToOthers } from '../config/file-rights.ts';
import { CardpollError, unreadableText } from '../platform/errors.ts';
import { readSmallFile } from '../platform/small-file.ts';

/** Throws `input_missing` for a file that cannot be read, `usage` for one that every user can read. */
export function readSecretFile(path: string): string {
  try {
    const open = openToOthers(path);
    if (open !== null) throw new CardpollError('usage', 'secret_readable', open);
    return readSmallFile(path).trim();
  } catch (error) {
    if (error instanceof CardpollError) throw error;
    throw new CardpollError('input_missing', 'secret_unreadable', unreadableText(path, error), {
      cause: error,
    });
  }
}

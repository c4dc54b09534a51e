// Reads a secret that a command sends to the daemon from a file, since every user of the machine can see command lines.
// Used by commands that take a secret. config/reader.ts reads the secrets of the configuration.
import { stat } from 'node:fs/promises';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { readSmallFile } from '../platform/small-file.ts';

const OTHERS_MAY_READ = 0o004;

/** Throws `input_missing` for a file that cannot be read, `usage` for a world-readable file. */
export async function readSecretFile(path: string): Promise<string> {
  try {
    if (((await stat(path)).mode & OTHERS_MAY_READ) !== 0) {
      throw new CardpollError('usage', 'secret_readable', `${path} is world-readable`, {
        hint: `chmod 600 ${path}`,
      });
    }
    return readSmallFile(path).trim();
  } catch (error) {
    if (error instanceof CardpollError) throw error;
    throw new CardpollError('input_missing', 'secret_unreadable', messageOf(error), { cause: error });
  }
}

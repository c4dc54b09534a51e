// Reads a secret that a command sends to the daemon from a file: on the command line everybody on the machine would see it.
// Used by the commands that take one. Secrets of the configuration are read by config/reader.ts.
import { readFile, stat } from 'node:fs/promises';
import { CardpollError, messageOf } from '../platform/errors.ts';

const OTHERS_MAY_READ = 0o004;

/** Throws `input_missing` for a file that cannot be read, `usage` for one that everybody can read. */
export async function readSecretFile(path: string): Promise<string> {
  try {
    if (((await stat(path)).mode & OTHERS_MAY_READ) !== 0) {
      throw new CardpollError('usage', 'secret_readable', `everybody can read ${path}`, {
        hint: `chmod 600 ${path}`,
      });
    }
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (error instanceof CardpollError) throw error;
    throw new CardpollError('input_missing', 'secret_unreadable', messageOf(error), { cause: error });
  }
}

// Reads files of settings and secrets. Refuses a path that is not a regular file: opening a FIFO waits for a writer, and a device
// never ends, which would stop the daemon during a reload. Used wherever a path comes from outside.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

const MAX_BYTES = 1024 * 1024;

/** Who can change a file: the user id of its owner, and its permissions. */
export type FileRights = Pick<Stats, 'uid' | 'mode'>;

/** @returns the text. Throws an Error with the path for anything but a readable regular file of at most 1 MiB. */
export function readSmallFile(path: string): string {
  return readSmallFileAndRights(path).text;
}

/** The rights belong to the file that was read, even if the path names another file by now. Throws as readSmallFile does. */
export function readSmallFileAndRights(path: string): { text: string; rights: FileRights } {
  // Without O_NONBLOCK, opening a FIFO waits.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`${path} is ${kindOf(stats)}, not a regular file`);
    if (stats.size > MAX_BYTES) throw tooLarge(path);
    // The size of a file may be wrong (0 in /proc) or change.
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (;;) {
      const read = readSync(file, buffer, length, buffer.length - length, null);
      length += read;
      if (length > MAX_BYTES) throw tooLarge(path);
      if (read === 0) return { text: buffer.toString('utf8', 0, length), rights: stats };
    }
  } finally {
    closeSync(file);
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  return stats.isFIFO() ? 'a FIFO' : 'a device or socket';
}

function tooLarge(path: string): Error {
  return new Error(`${path} is larger than 1 MiB`);
}

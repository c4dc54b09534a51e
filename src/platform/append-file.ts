// The descriptor of an append-only file: opens it, notices that the file was removed, closes it. Used by line-file.ts.
import { close, fstat, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from './directory.ts';

const NEWLINE = 0x0a;

/** Opens the file, mode 0640. @throws the system's error. */
export function openForAppend(path: string): number {
  return openSync(path, 'a', 0o640);
}

/** Opens a file that was removed, perhaps together with its directory. @throws the system's error. */
export function openAgain(path: string): number {
  makeDirectory(dirname(path), { mode: 0o750 });
  return openForAppend(path);
}

/** Whether the file no longer has a name, so that its new data is unreadable. False if this is unknown. */
export function wasRemoved(fd: number, answer: (removed: boolean) => void): void {
  fstat(fd, (error, stats) => answer(error === null && stats.nlink === 0));
}

/** An error on close means that bytes which write() accepted were lost; this cannot be corrected here. */
export function closeQuietly(fd: number): void {
  close(fd, () => {});
}

export function linesIn(bytes: Buffer | undefined): number {
  let count = 0;
  for (let at = bytes?.indexOf(NEWLINE) ?? -1; at !== -1; at = bytes?.indexOf(NEWLINE, at + 1) ?? -1)
    count += 1;
  return count;
}

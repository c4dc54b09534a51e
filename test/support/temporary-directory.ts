// A directory of its own for a test or a helper, removed after the test file and when the process ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

process.on('exit', removeTemporaryDirectories);

/** Makes an empty directory and returns its path; `name` tells who left it, where somebody killed the process. */
export function temporaryDirectory(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `cardpoll-${name}-`));
  made.add(path);
  return path;
}

/** Removes every directory made so far that is still there. */
export function removeTemporaryDirectories(): void {
  for (const path of made) rmSync(path, { recursive: true, force: true });
  made.clear();
}

// Finds files again that disappeared during a search, because they were renamed or compressed. Pure; used by search.ts,
// which passes a new listing.

import { dirname } from 'node:path';
import { type FileTask, type FoundFile, fileId } from '../model/file-task.ts';
import { parseRotationName } from './rotation.ts';

interface MovedFile {
  readonly original: FileTask;
  /** Null when it is already among the tasks. */
  readonly file: FoundFile | null;
}

/**
 * @param tasks all files of the search so far, including `gone`.
 * @param files the new listing.
 */
export function findMovedFiles(
  gone: readonly FileTask[],
  tasks: readonly FileTask[],
  files: readonly FoundFile[],
): MovedFile[] {
  const found: MovedFile[] = [];
  const missing = new Map(gone.map((task) => [fileId(task), task]));
  const paths = new Set(files.map(({ path }) => path));
  const lost = new Set(gone.map(({ path }) => path));
  const searched = new Set(tasks.map(({ path }) => path).filter((path) => !lost.has(path)));
  const asked = new Set(tasks.map(fileId));
  // Both were listed, and then the plain file was removed: its compression ended at that moment, so the other file, which
  // was opened later, was complete.
  for (const original of gone) {
    if (!searched.has(`${original.path}.gz`)) continue;
    found.push({ original, file: null });
    missing.delete(fileId(original));
  }
  const compressed: FoundFile[] = [];
  for (const file of files) {
    const renamed = missing.get(fileId(file));
    if (renamed !== undefined) found.push({ original: renamed, file });
    missing.delete(fileId(file));
    const plain = plainPath(file.path);
    // A file that is still being compressed, or comes from a file that was searched, contains nothing new.
    const isNew = plain !== null && !paths.has(plain) && !searched.has(plain);
    if (isNew && !asked.has(fileId(file))) compressed.push(file);
  }
  // A missing file that was already compressed was deleted.
  const uncompressed = () => [...missing.values()].filter(({ path }) => plainPath(path) === null);
  // A searched file that has no name any more was compressed too, so a new file of its log may come from it.
  const present = new Set(files.map(fileId));
  const compressedToo = tasks.filter(
    (task) => !lost.has(task.path) && plainPath(task.path) === null && !present.has(fileId(task)),
  );
  const isCertain = ({ path }: FileTask) => !compressedToo.some((task) => isSameLog(task.path, path));
  // First by name; the remaining files can only be matched by their log.
  const byName = (file: FoundFile) => uncompressed().find((task) => plainPath(file.path) === task.path);
  const byLog = (file: FoundFile) =>
    uncompressed().find((task) => isSameLog(task.path, file.path) && isCertain(task));
  for (const originalOf of [byName, byLog]) {
    for (const file of compressed) {
      const original = found.some((one) => one.file === file) ? undefined : originalOf(file);
      if (original === undefined) continue;
      found.push({ original, file });
      missing.delete(fileId(original));
    }
  }
  return found;
}

function plainPath(path: string): string | null {
  return path.endsWith('.gz') ? path.slice(0, -'.gz'.length) : null;
}

function isSameLog(onePath: string, otherPath: string): boolean {
  const family = (path: string) => parseRotationName(path.slice(path.lastIndexOf('/') + 1)).family;
  return dirname(onePath) === dirname(otherPath) && family(onePath) === family(otherPath);
}

// The rotation of log files: what a name says of its log, day and number, which file is which after a rotation during a
// search, and which of `x` and `x.gz` holds the data of both. A name is only a hint: logrotate's dateext has the day after,
// lumberjack the end in UTC, pino-roll the start. plan.ts uses it for the order, never as a time; only a file without any
// time in it is dated by its name.
import { dirname } from 'node:path';
import { type FileTask, type FoundFile, fileId } from '../model.ts';
import { FileBytes } from '../read/file-bytes.ts';
import { isGzip } from '../read/gzip/gzip-format.ts';
import { inflateFile } from '../read/gzip/inflate.ts';

export interface RotationName {
  /** The same for all files of one log in one directory. */
  readonly family: string;
  /** Digits of the date (and time) in the name; null without a date. Compare only within a family. */
  readonly date: string | null;
  /** Year, month and day in the name. */
  readonly day: readonly [number, number, number] | null;
  /** Number after the suffix (`.log.2`), counting back from the live file; null without a number. */
  readonly age: number | null;
  /** A number before the suffix (`.2.log`): a part of the log, or a writer. */
  readonly part: number | null;
}

const COMPRESSED = /\.(gz|z|zst|bz2|xz|lz4)$/i;
const AGE = /\.(\d{1,4})$/;
const DATE =
  /(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?:[-_T.]?(\d\d)(?:[-_.:]?(\d\d)){0,2}(?:[.,]\d{1,9})?|-\d{9,10})?(?!\d)/;
const PART = /[-_.](\d{1,4})(?=\.[a-z]+$|$)/i;

export function parseRotationName(name: string): RotationName {
  let rest = name.replace(COMPRESSED, '');
  const age = AGE.exec(rest);
  const dateLike = DATE.exec(rest);
  // In app.log.2026.02.01 the last number is the day, not an age.
  const ageIsOwn = age !== null && (dateLike === null || age.index >= dateLike.index + dateLike[0].length);
  if (ageIsOwn) rest = rest.slice(0, age.index);
  const date = DATE.exec(rest);
  if (date !== null) rest = `${rest.slice(0, date.index)}\0${rest.slice(date.index + date[0].length)}`;
  const part = date === null ? null : PART.exec(rest);
  if (part !== null) rest = rest.slice(0, part.index) + rest.slice(part.index + part[0].length);
  return {
    family: rest.replace(/[-_.]*\0[-_.]*(?=\.|$)/, '').replace(/\0/, ''),
    date: date === null ? null : date[0].replace(/\D/g, ''),
    day: date === null ? null : [Number(date[1]), Number(date[3]), Number(date[4])],
    age: ageIsOwn ? Number(age[1]) : null,
    part: part === null ? null : Number(part[1]),
  };
}

/** Whether `later` certainly continues `earlier`, judged by their names. */
export function follows(earlier: RotationName, later: RotationName): boolean {
  if (earlier.family !== later.family) return false;
  const isLive = later.date === null && later.age === null;
  if (earlier.date === null)
    return earlier.age !== null && later.date === null && (later.age ?? 0) < earlier.age;
  if (isLive) return true;
  return later.date !== null && dayDigits(later) > dayDigits(earlier);
}

/**
 * Numbered files of one day may come from several writers or be written in turn, and an hour that is separated from its
 * day looks like such a number: then only the day gives an order.
 */
function dayDigits({ date, age }: RotationName): string {
  const digits = date ?? '';
  return age === null && digits.length >= 12 ? digits : digits.slice(0, 8);
}

interface MovedFile {
  readonly original: FileTask;
  /** Null when it is already among the tasks. */
  readonly file: FoundFile | null;
}

/**
 * Finds files again that disappeared during a search, because they were renamed or compressed.
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

/**
 * Which of `x` and `x.gz` holds the data of both. `plain`: a file that is being compressed, or was compressed and kept, and
 * may have grown since. `gzip`: `x` has only the beginning, as an interrupted gunzip leaves it. Compares byte by byte and
 * stops at the first difference. Null when both have lines of their own, or when a file cannot be read.
 * @throws the signal's reason when it is aborted.
 */
export async function holderOfBoth(
  plainPath: string,
  gzipPath: string,
  signal: AbortSignal | undefined,
): Promise<'plain' | 'gzip' | null> {
  try {
    using plain = FileBytes.open(plainPath);
    using compressed = FileBytes.open(gzipPath);
    if (plain === null || compressed === null) return null;
    // Nothing is written yet; the data will be that of the plain file.
    if (compressed.size === 0) return 'plain';
    if (!isGzip(compressed.readAt(0, Buffer.alloc(10)))) return null;
    return await compare(plain, compressed, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}

async function compare(
  plain: FileBytes,
  compressed: FileBytes,
  signal: AbortSignal | undefined,
): Promise<'plain' | 'gzip' | null> {
  let offset = 0;
  let same = true;
  let room = Buffer.alloc(0);
  const problems = await inflateFile(
    compressed,
    {
      data: (chunk) => {
        if (room.length < chunk.length) room = Buffer.allocUnsafe(chunk.length);
        const expected = plain.readAt(offset, room.subarray(0, chunk.length));
        offset += chunk.length;
        same &&= expected.equals(chunk.subarray(0, expected.length));
        return same && offset <= plain.size && signal?.aborted !== true;
      },
      isStopped: () => signal?.aborted === true,
      gap: () => {},
    },
    'node',
  );
  signal?.throwIfAborted();
  if (!same || plain.shrunk || problems === null) return null;
  if (offset > plain.size) return 'gzip';
  return problems.every(({ code }) => code === 'truncated') ? 'plain' : null;
}

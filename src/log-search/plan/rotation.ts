// The rotation of log files: a file's log, day and number according to its name, and whether `x` or `x.gz` has the data of both.
// Used by plan.ts. A name is only a hint: logrotate's dateext has the day after, lumberjack the end in UTC, pino-roll the start.
// It gives the order of files, never a time.
import { groupBy } from '../../domain/group-by.ts';
import type { FoundFile } from '../model.ts';
import { FileBytes } from '../read/file-bytes.ts';
import { isGzip } from '../read/gzip/gzip-format.ts';
import { inflateFile } from '../read/gzip/inflate.ts';

export interface RotationName {
  /** Equal for all files of one log in one directory. */
  readonly family: string;
  /** Digits of the date (and time) in the name; null without a date. Compare only within a family. */
  readonly date: string | null;
  /** Number after the suffix (`.log.2`), counting back from the live file; null without a number. */
  readonly age: number | null;
}

const COMPRESSED = /\.(gz|z|zst|bz2|xz|lz4)$/i;
const AGE = /\.(\d{1,4})$/;
const DATE =
  /(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?:[-_T.]?(\d\d)(?:[-_.:]?(\d\d)){0,2}(?:[.,]\d{1,9})?|-\d{9,10})?(?!\d)/;
const OLDEST = 10_000;
/** Sorts after all digits. */
const LIVE = 'live';
/** A number before the suffix (`.2.log`): a part of the log, or a writer. */
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
    age: ageIsOwn ? Number(age[1]) : null,
  };
}

interface Placed {
  readonly directory: string;
  readonly name: RotationName;
}

/**
 * The files of each log in the order of their names, with files of equal rank together: oldest first, the live file last. Files
 * with a date and files with a number are not ordered among each other. A log of one file has no order.
 */
export function chains<T extends Placed>(files: readonly T[]): T[][][] {
  const logs = groupBy(files, ({ directory, name }) => `${directory}\0${name.family}`);
  return [...logs.values()]
    .filter(({ length }) => length > 1)
    .flatMap((log) => [
      inOrder(
        log.filter(({ name }) => name.date !== null || name.age === null),
        dayDigits,
      ),
      inOrder(
        log.filter(({ name }) => name.date === null),
        ageDigits,
      ),
    ]);
}

function inOrder<T extends Placed>(files: readonly T[], placeOf: (name: RotationName) => string): T[][] {
  const places = groupBy(files, ({ name }) => placeOf(name));
  return [...places].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

/**
 * Numbered files of one day may come from several writers or be written in turn, and an hour that is separated from its day looks
 * like such a number: then only the day gives an order.
 */
function dayDigits({ date, age }: RotationName): string {
  const digits = date ?? LIVE;
  return age === null && digits.length >= 12 ? digits : digits.slice(0, 8);
}

function ageDigits({ age }: RotationName): string {
  return age === null ? LIVE : String(OLDEST - age).padStart(5, '0');
}

/**
 * Which of `x` and `x.gz` has the data of both. `plain`: a file that is being compressed, or was compressed and kept, and may
 * have grown since. `gzip`: `x` has only the beginning, as after an interrupted gunzip. Compares byte by byte and stops at the
 * first difference. Null when both have different lines, or when a file cannot be read.
 * @throws the signal's reason when it is aborted.
 */
export async function holderOfBoth(
  plainFile: FoundFile,
  gzipFile: FoundFile,
  signal: AbortSignal | undefined,
): Promise<'plain' | 'gzip' | null> {
  try {
    using plain = FileBytes.of(plainFile);
    using compressed = FileBytes.of(gzipFile);
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
  if (!same || plain.shrunk) return null;
  if (offset > plain.size) return 'gzip';
  return problems.every(({ code }) => code === 'truncated') ? 'plain' : null;
}

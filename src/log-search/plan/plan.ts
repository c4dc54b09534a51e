// Decides which files are searched. Used by search.ts. Without a time window: all files. With a window, a file is excluded
// only by the times in its own lines or its successor's: it begins after the window, its successor begins before the window,
// it ends before the window (plain files), or it was last written long before and its times agree. A time that occurs twice,
// when clocks go back, may mean the later instant and then excludes less. Where times cannot be read, the file is searched.
// Names only give the order of files.
// Reads only the ends of a file, except to compare `x` with `x.gz`.

import { constants, gunzipSync } from 'node:zlib';
import { sum } from '../../domain/numbers.ts';
import { type FileTask, type FoundFile, type Query, SLACK_MS } from '../model.ts';
import { FileBytes } from '../read/file-bytes.ts';
import { isGzip } from '../read/gzip/gzip-format.ts';
import { zoneOfFile } from '../time/file-zone.ts';
import type { TimeSpan } from '../time/line-clock.ts';
import { instantsOf, timeOfLine } from '../time/timestamps.ts';
import { Zone } from '../time/zone.ts';
import { follows, holderOfBoth, parseRotationName, type RotationName } from './rotation.ts';
import type { Listing } from './walk.ts';

/** A copy may have an old mtime from another time zone, so only files much older than the window are excluded. An mtime
 * before the file's own times is wrong, and excludes nothing. */
const MTIME_SLACK_MS = 36 * 3_600_000;

const HEAD_BYTES = 8_192;
const TAIL_BYTES = 65_536;
const MAX_INFLATED_BYTES = 4 * 1024 * 1024;
/** More than one, so that a single wrong date does not decide. */
const HEAD_LINES = 20;
const NEWLINE = 0x0a;

type PruneReason = 'begins_after' | 'ends_before' | 'not_written_since' | 'successor_begins_before';

export type Plan = Awaited<ReturnType<typeof makePlan>>;

/** @throws the signal's reason when it is aborted. */
export async function makePlan(found: Listing, query: Query, signal: AbortSignal | undefined) {
  const zone = new Zone(query.zone);
  const candidates = found.files.map((file) => candidateOf(file));
  const notices = [...found.notices];
  const pruned: { readonly path: string; readonly reason: PruneReason }[] = [];
  let kept = candidates;
  if (query.prune && query.window !== null) {
    for (const one of candidates) lookInto(one, zone);
    kept = [];
    for (const one of candidates) {
      const reason = windowReason(one, candidates, query.window, zone);
      if (reason === null) kept.push(one);
      else pruned.push({ path: one.file.path, reason });
    }
  }
  const duplicates = await findDuplicates(kept, signal);
  for (const [path, of] of duplicates)
    notices.push({ path, code: 'duplicate', detail: `same data as ${of}` });
  const tasks: FileTask[] = kept
    .filter(({ file }) => !duplicates.has(file.path))
    .map(({ file, name }, number) => ({ ...file, number, day: name.day }));
  const bytesRead = sum(candidates.map(({ peekedBytes }) => peekedBytes));
  const { special } = found;
  return { tasks, pruned, notices, considered: candidates.length, special, bytesRead };
}

interface Candidate {
  readonly file: FoundFile;
  readonly directory: string;
  readonly name: RotationName;
  /** The earliest time near the beginning. */
  firstMs: number | null;
  /** The latest time near the end. */
  lastMs: number | null;
  peekedBytes: number;
}

function candidateOf(file: FoundFile): Candidate {
  const slash = file.path.lastIndexOf('/');
  const name = parseRotationName(file.path.slice(slash + 1));
  const directory = file.path.slice(0, slash + 1);
  return { file, directory, name, firstMs: null, lastMs: null, peekedBytes: 0 };
}

/** Ignores files that cannot be opened; the scan reports them. */
function lookInto(candidate: Candidate, zone: Zone): void {
  const { file } = candidate;
  try {
    using bytes = FileBytes.of(file);
    if (bytes === null) return;
    Object.assign(candidate, peek(bytes, zone));
    candidate.peekedBytes = bytes.read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

function windowReason(
  candidate: Candidate,
  all: readonly Candidate[],
  window: TimeSpan,
  zone: Zone,
): PruneReason | null {
  const { file, firstMs, lastMs } = candidate;
  if (firstMs === null) return null;
  const writtenMs = file.mtimeMs + MTIME_SLACK_MS;
  if (firstMs <= writtenMs && writtenMs < window.fromMs) return 'not_written_since';
  if (firstMs > window.toMs + SLACK_MS) return 'begins_after';
  if (lastMs !== null && zone.latest(Math.max(firstMs, lastMs)) + SLACK_MS < window.fromMs)
    return 'ends_before';
  const end = successorBegins(candidate, firstMs, all);
  return end !== null && zone.latest(end) + SLACK_MS < window.fromMs ? 'successor_begins_before' : null;
}

/** When the next file of the same writer, by name, begins; null when names and times contradict each other. */
function successorBegins(
  { directory, name }: Candidate,
  firstMs: number,
  all: readonly Candidate[],
): number | null {
  let earliest: number | null = null;
  for (const other of all) {
    if (other.directory !== directory || other.firstMs === null || !follows(name, other.name)) continue;
    if (other.firstMs < firstMs) return null;
    earliest = Math.min(earliest ?? other.firstMs, other.firstMs);
  }
  return earliest;
}

/** Finds files with the same data: path of the excluded file -> path of the kept file. */
async function findDuplicates(
  candidates: readonly Candidate[],
  signal: AbortSignal | undefined,
): Promise<Map<string, string>> {
  const byPath = new Map(candidates.map(({ file }) => [file.path, file]));
  const duplicates = new Map<string, string>();
  for (const { file } of candidates) {
    const compressed = byPath.get(`${file.path}.gz`);
    if (compressed === undefined || file.size === 0) continue;
    const holder = await holderOfBoth(file, compressed, signal);
    if (holder === 'plain') duplicates.set(compressed.path, file.path);
    else if (holder === 'gzip') duplicates.set(file.path, compressed.path);
  }
  return duplicates;
}

/**
 * Finds the times at the ends of a file cheaply: near its beginning with one 8 KiB read, and near its end if it is not
 * compressed. An unknown time is null, and null never excludes a file.
 */
function peek(file: FileBytes, zone: Zone): Pick<Candidate, 'firstMs' | 'lastMs'> {
  const head = file.readAt(0, Buffer.allocUnsafe(HEAD_BYTES));
  const gzip = isGzip(head);
  const data = gzip ? inflateHead(head) : head;
  const own = zoneOfFile(data, zone);
  const times = timesOf(data, 0, data.lastIndexOf(NEWLINE), HEAD_LINES, own);
  return {
    firstMs: times === null || times.length === 0 ? null : Math.min(...times),
    lastMs: gzip ? null : lastTime(file, own),
  };
}

function inflateHead(head: Buffer): Buffer {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_INFLATED_BYTES });
  } catch {
    // Damaged, or too large after inflating; the scan will report it.
    return Buffer.alloc(0);
  }
}

function lastTime(file: FileBytes, zone: Zone): number | null {
  const offset = Math.max(0, file.size - TAIL_BYTES);
  const tail = file.readAt(offset, Buffer.allocUnsafe(TAIL_BYTES));
  const start = offset === 0 ? 0 : tail.indexOf(NEWLINE) + 1;
  const times = timesOf(tail, start, tail.length, Number.POSITIVE_INFINITY, zone);
  return times === null || times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b));
}

/** Null when a line has a time that is not certain by itself. */
function timesOf(data: Buffer, from: number, to: number, lines: number, zone: Zone): number[] | null {
  const times: number[] = [];
  let left = lines;
  for (let start = from; start < to && left > 0; left -= 1) {
    const newline = data.indexOf(NEWLINE, start);
    const end = newline === -1 || newline > to ? to : newline;
    const written = timeOfLine(data, start, end);
    const time = typeof written === 'object' ? instantsOf(written, zone) : undefined;
    if (written !== undefined && (time === undefined || time.zoneName !== undefined)) return null;
    if (time !== undefined) times.push(time.ms);
    start = end + 1;
  }
  return times;
}

// Decides which files are searched. Used by search.ts. Without a time window: all files. With a window, a file is excluded only
// by times, and only when its samples run forwards and each line that begins a record has a certain time: it begins after the
// window, its successor begins before the window, it ends before the window (plain files), or it was last written long before. If
// that is unknown, the file is searched. A time that occurs twice, when clocks go back, may mean the later instant and then
// excludes less. Names only give the order of files: the date in a name is the day after for logrotate, the end in UTC for
// lumberjack, the start for pino-roll. Reads only samples, except to compare `x` with `x.gz`.

import { constants, gunzipSync } from 'node:zlib';
import { sum } from '../../domain/numbers.ts';
import { type FileTask, type FoundFile, type Query, SLACK_MS } from '../model.ts';
import { FileBytes } from '../read/file-bytes.ts';
import { isGzip } from '../read/gzip/gzip-format.ts';
import { isText, otherSeparator } from '../read/text.ts';
import type { TimeSpan } from '../time/line-clock.ts';
import { continuesRecord } from '../time/record-lines.ts';
import { MTIME_SLACK_MS, TimeReader } from '../time/time-reader.ts';
import { Zone } from '../time/zone.ts';
import { chains, holderOfBoth, parseRotationName, type RotationName } from './rotation.ts';
import type { Listing } from './walk.ts';

const SAMPLE_BYTES = 8_192;
/** Samples of a plain file, evenly spread; the first is its beginning and the last its end. */
const SAMPLES = 8;
const MAX_INFLATED_BYTES = 4 * 1024 * 1024;
const MAX_HEAD_BYTES = 65_536;
const NEWLINE = 0x0a;

type PruneReason = 'begins_after' | 'ends_before' | 'not_written_since' | 'successor_begins_before';

export type Plan = Awaited<ReturnType<typeof makePlan>>;

/** @throws the signal's reason when it is aborted. */
export async function makePlan(found: Listing, query: Query, signal: AbortSignal | undefined) {
  const { window } = query;
  const { kept, pruned, bytesRead } =
    query.prune && window !== null
      ? keepWithin(window, found.files, new Zone(query.zone))
      : { kept: found.files, pruned: [], bytesRead: 0 };
  const duplicates = await findDuplicates(kept, signal);
  const notices = [...found.notices];
  for (const [path, of] of duplicates)
    notices.push({ path, code: 'duplicate', detail: `same data as ${of}` });
  const tasks: FileTask[] = kept
    .filter(({ path }) => !duplicates.has(path))
    // No spread: each copy would get a separate hidden class, which takes more memory than the rest.
    .map(({ path, dev, ino, fd, size, mtimeMs }, number) => ({ path, dev, ino, fd, size, mtimeMs, number }));
  return { tasks, pruned, notices, considered: found.files.length, special: found.special, bytesRead };
}

function keepWithin(window: TimeSpan, files: readonly FoundFile[], zone: Zone) {
  const candidates = files.map((file) => candidateOf(file));
  for (const one of candidates) lookInto(one, zone);
  const successors = successorTimes(candidates);
  const pruned: { readonly path: string; readonly reason: PruneReason }[] = [];
  const kept = candidates.filter((one) => {
    const reason = windowReason(one, successors.get(one) ?? null, window, zone);
    if (reason !== null) pruned.push({ path: one.file.path, reason });
    return reason === null;
  });
  const bytesRead = sum(candidates.map(({ peekedBytes }) => peekedBytes));
  return { kept: kept.map(({ file }) => file), pruned, bytesRead };
}

/** The times of a file that runs forwards, according to samples. */
interface Span {
  readonly firstMs: number;
  /** Null: the end cannot be read without the rest. */
  readonly lastMs: number | null;
}

interface Candidate {
  readonly file: FoundFile;
  readonly directory: string;
  readonly name: RotationName;
  /** Null: unknown. */
  span: Span | null;
  peekedBytes: number;
}

function candidateOf(file: FoundFile): Candidate {
  const slash = file.path.lastIndexOf('/');
  const name = parseRotationName(file.path.slice(slash + 1));
  return { file, directory: file.path.slice(0, slash + 1), name, span: null, peekedBytes: 0 };
}

/** Ignores files that cannot be opened; the scan reports them. */
function lookInto(candidate: Candidate, zone: Zone): void {
  const { file } = candidate;
  try {
    using bytes = FileBytes.of(file);
    if (bytes === null) return;
    candidate.span = spanOf(bytes, new TimeReader(zone, file.mtimeMs));
    candidate.peekedBytes = bytes.read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

function windowReason(
  { file, span }: Candidate,
  successorMs: number | null,
  window: TimeSpan,
  zone: Zone,
): PruneReason | null {
  if (span === null) return null;
  const { firstMs, lastMs } = span;
  const writtenMs = file.mtimeMs + MTIME_SLACK_MS;
  // No line is newer than the file, so its clock or its mtime is wrong.
  if (Math.max(firstMs, lastMs ?? firstMs) > writtenMs) return null;
  if (writtenMs < window.fromMs) return 'not_written_since';
  if (firstMs > window.toMs + SLACK_MS) return 'begins_after';
  if (lastMs !== null && zone.latest(lastMs) + SLACK_MS < window.fromMs) return 'ends_before';
  const isOver = successorMs !== null && zone.latest(successorMs) + SLACK_MS < window.fromMs;
  return isOver ? 'successor_begins_before' : null;
}

/** Start of the next file of the same writer, by name; empty if names and times contradict each other. */
function successorTimes(all: readonly Candidate[]): ReadonlyMap<Candidate, number> {
  const successors = new Map<Candidate, number>();
  for (const chain of chains(all)) {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const group of chain.reverse()) {
      const known = group.filter(({ span }) => span !== null);
      const isKnown = Number.isFinite(nextMs);
      for (const one of known) if (isKnown && begin(one) <= nextMs) successors.set(one, nextMs);
      nextMs = known.reduce((ms, one) => Math.min(ms, begin(one)), nextMs);
    }
  }
  return successors;
}

function begin({ span }: Candidate): number {
  return span?.firstMs ?? Number.POSITIVE_INFINITY;
}

/** Finds files with the same data: path of the excluded file -> path of the kept file. */
async function findDuplicates(
  files: readonly FoundFile[],
  signal: AbortSignal | undefined,
): Promise<Map<string, string>> {
  const gzips = files.filter(({ path }) => path.endsWith('.gz'));
  const compressedOf = new Map(gzips.map((file) => [file.path.slice(0, -'.gz'.length), file]));
  const duplicates = new Map<string, string>();
  for (const file of files) {
    const compressed = compressedOf.get(file.path);
    if (compressed === undefined || file.size === 0) continue;
    const holder = await holderOfBoth(file, compressed, signal);
    if (holder === 'plain') duplicates.set(compressed.path, file.path);
    else if (holder === 'gzip') duplicates.set(file.path, compressed.path);
  }
  return duplicates;
}

/** Reads samples of a plain file, and the beginning of a compressed one. */
function spanOf(file: FileBytes, times: TimeReader): Span | null {
  const head = file.readAt(0, Buffer.allocUnsafe(SAMPLE_BYTES));
  const gzip = isGzip(head);
  const data = gzip ? inflateHead(head).subarray(0, MAX_HEAD_BYTES) : head;
  if (!isText(data) || otherSeparator(data) !== null) return null;
  times.begin(data);
  const order = new Order(times);
  const isWhole = file.size <= SAMPLE_BYTES;
  order.add(data, true, isWhole && !gzip);
  for (let nth = 1; !gzip && !isWhole && nth < SAMPLES; nth += 1) {
    const offset = Math.floor(((file.size - SAMPLE_BYTES) * nth) / (SAMPLES - 1));
    order.add(file.readAt(offset, head), false, nth === SAMPLES - 1);
  }
  return order.span(!gzip);
}

/** Follows the times of samples, in the order of the file. */
class Order {
  #firstMs: number | null = null;
  #maxMs = Number.NEGATIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** The last sample has a line that begins a record. */
  #hasTime = false;
  /** Number of steps forwards minus steps backwards. */
  #forwards = 0;
  #isCertain = true;

  constructor(private readonly times: TimeReader) {}

  /** @param isStart whether the data begins with a line. @param isEnd whether its last line is whole without a newline. */
  add(data: Buffer, isStart: boolean, isEnd: boolean): void {
    const to = isEnd ? data.length : data.lastIndexOf(NEWLINE);
    let from = isStart ? 0 : data.indexOf(NEWLINE) + 1;
    this.#hasTime = false;
    while (from < to && this.#isCertain) {
      const newline = data.indexOf(NEWLINE, from);
      const end = newline === -1 || newline > to ? to : newline;
      if (!continuesRecord(data, from, end)) this.#note(data, from, end);
      from = end + 1;
    }
  }

  #note(data: Buffer, from: number, to: number): void {
    const time = this.times.read(data, from, to);
    if (typeof time !== 'object' || time.isAmbiguous || time.ms < this.#maxMs - SLACK_MS) {
      this.#isCertain = false;
      return;
    }
    this.#firstMs = Math.min(this.#firstMs ?? time.ms, time.ms);
    if (Number.isFinite(this.#lastMs)) this.#forwards += Math.sign(time.ms - this.#lastMs);
    this.#hasTime = true;
    this.#lastMs = time.ms;
    this.#maxMs = Math.max(this.#maxMs, time.ms);
  }

  span(hasEnd: boolean): Span | null {
    if (!this.#isCertain || this.#firstMs === null || this.#forwards < 0) return null;
    return { firstMs: this.#firstMs, lastMs: hasEnd && this.#hasTime ? this.#maxMs : null };
  }
}

function inflateHead(head: Buffer): Buffer {
  try {
    // The usual head fits into one chunk, which saves a third of the time.
    return gunzipSync(head, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MAX_INFLATED_BYTES,
      chunkSize: MAX_HEAD_BYTES,
    });
  } catch {
    // Damaged, or too large after inflating; the scan will report it.
    return Buffer.alloc(0);
  }
}

// Scans one file from opening to closing, with the matcher and the sink of its caller: find-hits.ts or trace-lines.ts. Tries the
// fast way first; when it fails for this file (inflate.ts), the results are dropped and the file is scanned again the careful
// way.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { countWords } from '../../domain/words.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { LineMatcher } from '../match/card-matcher.ts';
import {
  type FileProblem,
  type FileTask,
  type InflateChoice,
  type NoticeCode,
  type Query,
  SLACK_MS,
} from '../model.ts';
import { FileBytes, isDenied, isMissing } from '../read/file-bytes.ts';
import { isGzip, wasGzip } from '../read/gzip/gzip-format.ts';
import { inflateFile, Unverified } from '../read/gzip/inflate.ts';
import { hasBinaryMember, isCounted, isTar, isText, otherSeparator, toNewlines } from '../read/text.ts';
import { TimeReader } from '../time/time-reader.ts';
import { zoneNamed } from '../time/zone.ts';
import { ContainerLines } from './container-lines.ts';
import { LineScanner, type LineSink, type ScanOptions } from './line-scanner.ts';
import { WholeLines } from './whole-lines.ts';

/** The matcher of a scan, and the sink for its matches; every attempt gets a new sink. */
interface ScanJob<Sink extends LineSink> {
  readonly matcher: LineMatcher;
  begin(): Sink;
  /** Discards a sink with wrong results, if it has data to remove. */
  forget?(sink: Sink): void;
}

/** Stops a scan, and receives its progress. */
export interface ScanControl {
  isStopped(): boolean;
  /** Reports the number of bytes read of the present file. */
  progress(bytesRead: number): void;
}

interface ScanOutcome<Sink> {
  readonly sink: Sink;
  readonly problems: readonly FileProblem[];
  readonly bytesRead: number;
  /** Bytes of log text. */
  readonly bytesSearched: number;
}

export async function scanFile<Sink extends LineSink>(
  task: FileTask,
  query: Query,
  control: ScanControl,
  job: ScanJob<Sink>,
): Promise<ScanOutcome<Sink>> {
  const failed = (code: NoticeCode, detail: string): ScanOutcome<Sink> => ({
    sink: job.begin(),
    problems: [{ code, detail }],
    bytesRead: 0,
    bytesSearched: 0,
  });
  const vanished = () => failed('vanished', 'gone before it was opened');
  try {
    using file = FileBytes.of(task);
    if (file === null) return vanished();
    return await scanOpened(file, task, query, control, job);
  } catch (error) {
    // A failure to store hits is not a problem of the log file.
    if (error instanceof CardpollError) throw error;
    if (isMissing(error)) return vanished();
    if (isDenied(error)) return failed('denied', 'permission denied');
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return failed('read_error', messageOf(error));
  }
}

const HEAD_BYTES = 512;
const BLOCK_BYTES = 1_048_576;
/** Other work of the thread (drawing progress, noticing Ctrl-C) gets a turn after this many bytes. */
const TURN_BYTES = 4 * BLOCK_BYTES;

/** Data that is not text is read up to this length, because text may follow damaged data. */
const MAX_SKIPPED_BYTES = 1_048_576;

async function scanOpened<Sink extends LineSink>(
  file: FileBytes,
  task: FileTask,
  query: Query,
  control: ScanControl,
  job: ScanJob<Sink>,
): Promise<ScanOutcome<Sink>> {
  for (let { inflate } = query; ; inflate = 'node') {
    const sink = job.begin();
    try {
      const attempt = new Attempt(file, task, query, control, job.matcher, sink);
      return { sink, ...(await attempt.run(inflate)) };
    } catch (error) {
      if (!(error instanceof Unverified)) throw error;
    }
    job.forget?.(sink);
  }
}

class Attempt {
  readonly #times: TimeReader;
  readonly #scanner: LineScanner;
  readonly #joined: ContainerLines;
  readonly #lines: WholeLines;
  readonly #problems: FileProblem[] = [];
  #bytesSearched = 0;
  #stoppedEarly = false;
  #isBegun = false;
  #isNoText = false;
  #skipped = 0;
  #isTar = false;
  /** The byte that ends records, if it is not the newline. */
  #separator: number | null = null;

  constructor(
    private readonly file: FileBytes,
    private readonly task: FileTask,
    private readonly query: Query,
    private readonly control: ScanControl,
    matcher: LineMatcher,
    sink: LineSink,
  ) {
    this.#times = new TimeReader(zoneNamed(query.zone), task.mtimeMs);
    this.#scanner = new LineScanner(this.#scanOptions(matcher), sink);
    this.#joined = new ContainerLines(this.#scanner);
    this.#lines = new WholeLines(this.#joined);
  }

  async run(inflate: InflateChoice) {
    const head = this.file.readAt(0, Buffer.alloc(HEAD_BYTES));
    const isGzipped = isGzip(head) || wasGzip(head, this.task.path);
    const problems = isGzipped ? await this.#inflate(inflate) : await this.#read();
    if (!this.#stoppedEarly) this.#endLines();
    return {
      problems: [...problems, ...this.#problems, ...this.#laterProblems()],
      bytesRead: this.file.read,
      bytesSearched: this.#bytesSearched,
    };
  }

  #scanOptions(matcher: LineMatcher): ScanOptions {
    const { window, prune } = this.query;
    return {
      matcher,
      window,
      stopPastMs: window !== null && prune ? window.toMs + SLACK_MS : null,
      times: this.#times,
      mtimeMs: this.task.mtimeMs,
    };
  }

  #inflate(inflate: InflateChoice): Promise<readonly FileProblem[]> {
    const sink = {
      data: (chunk: Buffer) => this.#take(chunk),
      isStopped: () => this.control.isStopped(),
      gap: () => this.#goOnBehind(),
    };
    return inflateFile(this.file, sink, inflate);
  }

  async #read(): Promise<readonly FileProblem[]> {
    // Small files get a small buffer, because there may be many.
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(BLOCK_BYTES, this.file.size)));
    for (let offset = 0; offset < this.file.size; offset += buffer.length) {
      const block = this.file.readAt(offset, buffer);
      if (block.length === 0 || !this.#take(block)) break;
      if (offset % TURN_BYTES === 0) await nextTurn();
    }
    return [];
  }

  /** @returns false to stop. */
  #take(chunk: Buffer): boolean {
    if (!this.#isBegun) this.#begin(chunk);
    if (this.#isNoText) {
      this.#skipped += chunk.length;
      return this.#skipped < MAX_SKIPPED_BYTES;
    }
    if (this.#isTar) this.#checkMembers(chunk);
    if (this.#separator !== null) toNewlines(chunk, this.#separator);
    this.#bytesSearched += chunk.length;
    this.control.progress(this.file.read);
    this.#lines.push(chunk);
    const goOn = !this.#scanner.isPast && !this.control.isStopped();
    this.#stoppedEarly ||= !goOn;
    return goOn;
  }

  /** Data is missing: the next data may be text again, if damage was mistaken for data. */
  #goOnBehind(): void {
    this.#endLines();
    this.#isBegun = false;
  }

  #endLines(): void {
    this.#lines.endLine();
    this.#joined.endLines();
  }

  /** Examines the beginning of the data. A file truncated under its writer begins with a hole, which reads as NUL bytes. */
  #begin(block: Buffer): void {
    const start = block.findIndex((byte) => byte !== 0);
    if (start === -1) return;
    const chunk = block.subarray(start);
    this.#isBegun = true;
    this.#isTar = isTar(chunk);
    this.#isNoText = !this.#isTar && !isText(chunk);
    this.#separator = otherSeparator(chunk);
    if (this.#isNoText && !this.#problems.some(({ code }) => code === 'not_searched'))
      this.#problem('not_searched', 'it is neither text nor text in gzip: unpack or convert it');
    if (isCounted(chunk))
      this.#problem('several_records', 'messages follow each other without ends of lines');
    this.#times.begin(chunk);
  }

  #checkMembers(chunk: Buffer): void {
    if (this.#problems.length > 0 || !hasBinaryMember(chunk)) return;
    this.#problem('not_searched', 'members of this archive are not text: unpack it');
  }

  #problem(code: NoticeCode, detail: string): void {
    this.#problems.push({ code, detail });
  }

  #laterProblems(): FileProblem[] {
    const { longParts, doubtfulLines, severalRecords, insideNumbers } = this.#scanner;
    const { longLines } = this.#joined;
    const problems: FileProblem[] = [];
    const say = (code: NoticeCode, detail: string) => problems.push({ code, detail });
    const lines = (count: number) => countWords(count, 'line of the card', 'lines of the card');
    if (this.file.shrunk) say('shrunk', 'became shorter while it was read');
    if (longParts + longLines > 0) say('long_line', 'a line is too long, and was searched in parts');
    if (severalRecords > 0) say('several_records', `${lines(severalRecords)} may hold several records each`);
    if (insideNumbers > 0)
      say('inside_number', `${lines(insideNumbers)}, not counted: the number is inside a longer one`);
    if (doubtfulLines > 0)
      say(
        'repeated_hour',
        `${lines(doubtfulLines)} may be outside the window: their local time occurs twice`,
      );
    return problems;
  }
}

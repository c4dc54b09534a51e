// Scans one file from opening to closing, with the matcher and the sink of its caller: find-hits.ts or
// trace-lines.ts.
// Tries the fast way first; when it fails for this file (inflate.ts), or the time of a line needs more than a short
// look back (line-clock.ts), the results are dropped and the file is scanned again the careful way.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { countWords } from '../../domain/words.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { EVERY_LINE, type LineMatcher } from '../match/card-matcher.ts';
import {
  type FileProblem,
  type FileTask,
  type InflateChoice,
  type NoticeCode,
  type Query,
  SLACK_MS,
} from '../model.ts';
import { FileBytes, isDenied, isMissing } from '../read/file-bytes.ts';
import { isGzip, isUtf16, unsupportedFormat, wasGzip } from '../read/gzip/gzip-format.ts';
import { inflateFile, Unverified } from '../read/gzip/inflate.ts';
import { FileDates } from '../time/file-dates.ts';
import { zoneOfFile } from '../time/file-zone.ts';
import { UnknownTime } from '../time/line-clock.ts';
import { Zone } from '../time/zone.ts';
import { ContainerLines } from './container-lines.ts';
import { LineScanner, type LineSink, type ScanOptions } from './line-scanner.ts';

/** The matcher of a scan, and the sink for its matches; every attempt gets a new sink. */
interface ScanJob<Sink extends LineSink> {
  readonly matcher: LineMatcher;
  readonly timed: boolean;
  begin(): Sink;
  /** Drops a sink with wrong results, if that is more than to leave it. */
  forget?(sink: Sink): void;
}

/** Stops a scan, and takes its progress. */
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
    return await new FileScan(file, task, query, control, job).run();
  } catch (error) {
    // Hits cannot be stored, which is not a problem of the log file.
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

class FileScan<Sink extends LineSink> {
  readonly #dates: FileDates;
  #bytesSearched = 0;
  #stoppedEarly = false;
  #isUtf16 = false;

  constructor(
    private readonly file: FileBytes,
    private readonly task: FileTask,
    private readonly query: Query,
    private readonly control: ScanControl,
    private readonly job: ScanJob<Sink>,
  ) {
    this.#dates = new FileDates(new Zone(query.zone), task.day, task.mtimeMs);
  }

  async run(): Promise<ScanOutcome<Sink>> {
    const head = this.file.readAt(0, Buffer.alloc(HEAD_BYTES));
    const format = unsupportedFormat(head, this.task.path);
    if (format !== null) return this.#notSearched(format);
    const gzip = isGzip(head) || wasGzip(head, this.task.path);
    let { inflate } = this.query;
    for (;;) {
      const sink = this.job.begin();
      const scanner = new LineScanner(this.#scanOptions(), sink);
      const lines = new ContainerLines(scanner);
      this.#bytesSearched = 0;
      this.#stoppedEarly = false;
      try {
        const problems = await this.#feed(lines, gzip, inflate);
        if (this.#isUtf16) return this.#notSearched('UTF-16');
        return this.#outcome(sink, [...problems, ...this.#laterProblems(scanner, lines)]);
      } catch (error) {
        if (error instanceof Unverified) inflate = 'node';
        else if (error instanceof UnknownTime) await this.#survey(gzip);
        else throw error;
      }
      this.job.forget?.(sink);
    }
  }

  #scanOptions(): ScanOptions {
    const { window, prune } = this.query;
    return {
      matcher: this.job.matcher,
      window,
      timed: this.job.timed,
      stopPastMs: window !== null && prune ? window.toMs + SLACK_MS : null,
      dates: this.#dates,
    };
  }

  async #feed(
    scanner: Pick<LineScanner, 'push' | 'endLine'>,
    gzip: boolean,
    inflate: InflateChoice,
  ): Promise<readonly FileProblem[]> {
    const data = (chunk: Buffer): boolean => {
      this.#isUtf16 ||= this.#bytesSearched === 0 && isUtf16(chunk.subarray(0, HEAD_BYTES));
      if (this.#isUtf16) return false;
      if (this.#bytesSearched === 0) this.#dates.zone = zoneOfFile(chunk, this.#dates.zone);
      this.#bytesSearched += chunk.length;
      this.control.progress(this.file.read);
      const goOn = scanner.push(chunk) && !this.control.isStopped();
      this.#stoppedEarly ||= !goOn;
      return goOn;
    };
    let problems: readonly FileProblem[] = [];
    if (gzip) {
      const sink = { data, isStopped: () => this.control.isStopped(), gap: () => scanner.endLine() };
      problems = await inflateFile(this.file, sink, inflate);
    } else {
      const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
      for (let offset = 0; offset < this.file.size; offset += buffer.length) {
        const block = this.file.readAt(offset, buffer);
        if (block.length === 0 || !data(block)) break;
        if (offset % TURN_BYTES === 0) await nextTurn();
      }
    }
    if (!this.#stoppedEarly) scanner.endLine();
    return problems;
  }

  /** Looks at every line, until the file has said what its times leave out. */
  async #survey(gzip: boolean): Promise<void> {
    let wantsMore = true;
    const options = { ...this.#scanOptions(), matcher: EVERY_LINE, window: null, timed: false };
    const scanner = new LineScanner(options, {
      line: ({ bytes, from, to }) => {
        wantsMore &&= this.#dates.survey(bytes, from, to);
      },
    });
    const untilSettled = {
      push: (chunk: Buffer) => scanner.push(chunk) && wantsMore,
      endLine: () => scanner.endLine(),
    };
    await this.#feed(untilSettled, gzip, 'node');
    if (wantsMore) this.#dates.endSurvey();
  }

  #laterProblems(
    { overlongLines, doubtfulLines, foreignZoneLines }: LineScanner,
    { longLines }: ContainerLines,
  ): FileProblem[] {
    const problems: FileProblem[] = [];
    if (this.file.shrunk) problems.push({ code: 'shrunk', detail: 'became shorter while it was read' });
    if (overlongLines > 0) problems.push({ code: 'long_line', detail: `${overlongLines} overlong lines` });
    if (longLines > 0) {
      const detail = 'a line in parts is longer than 1 MiB: each MiB was searched as a line';
      problems.push({ code: 'long_parts', detail });
    }
    if (doubtfulLines > 0) {
      const lines = countWords(doubtfulLines, 'line of the card', 'lines of the card');
      problems.push({
        code: 'repeated_hour',
        detail: `${lines} may be outside the window: their local time occurs twice`,
      });
    }
    if (foreignZoneLines > 0) {
      const lines = countWords(foreignZoneLines, 'line of the card', 'lines of the card');
      const detail = `${lines} name a zone that ${this.#dates.zone.name} is not; they were read in ${this.#dates.zone.name}`;
      problems.push({ code: 'foreign_zone', detail });
    }
    return problems;
  }

  #notSearched(format: string): ScanOutcome<Sink> {
    return this.#outcome(this.job.begin(), [{ code: 'not_searched', detail: `${format} is not searched` }]);
  }

  #outcome(sink: Sink, problems: readonly FileProblem[]): ScanOutcome<Sink> {
    return { sink, problems, bytesRead: this.file.read, bytesSearched: this.#bytesSearched };
  }
}

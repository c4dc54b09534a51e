// Finds matching lines in a stream of bytes. Used by scan-file.ts, one scanner a file and attempt. Bytes arrive in
// chunks of any size; a chunk is searched in place, and only a line across a border is copied. Lines without a candidate
// are not looked at. The sink processes the hits (interfaces, counts, samples).
import type { LineMatcher } from '../match/card-matcher.ts';
import {
  type ClockOptions,
  LineClock,
  type LineTime,
  type TimeSpan,
  timeWithin,
} from '../time/line-clock.ts';

export interface ScannedLine {
  /** The line is bytes[from, to), without its newline; valid only during the call. */
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** Position of the line in the file's (inflated) data. */
  readonly offset: number;
  /** Of two times that the line may have, only those in the window; null when no one asked for times. */
  readonly time: LineTime | null;
  /** Only the beginning of the line is here; the sink got the rest as pieces. */
  readonly cut: boolean;
}

export interface LineSink {
  line(line: ScannedLine): void;
  /** A piece of an overlong line. Called before `line`, and also for an overlong line that does not match. */
  piece?(latin1: string): void;
  /** The overlong line has ended. */
  endPieces?(): void;
}

export interface ScanOptions extends ClockOptions {
  readonly matcher: LineMatcher;
  readonly window: TimeSpan | null;
  /** Sinks that only count need no times outside a window. */
  readonly timed: boolean;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class LineScanner {
  readonly #clock: LineClock;
  readonly #timed: boolean;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #long: LongLine | null = null;
  /** Number of bytes before the present chunk. */
  #offset = 0;
  overlongLines = 0;
  /** Number of matching lines that have one time in the window and may have another outside it. */
  doubtfulLines = 0;
  /** Number of matching lines with the name of a zone that the search's zone is not. */
  foreignZoneLines = 0;

  constructor(
    private readonly options: ScanOptions,
    private readonly sink: LineSink,
  ) {
    this.#clock = new LineClock(options);
    this.#timed = options.timed || options.window !== null;
  }

  /** @returns false when nothing that follows can be in the window. The chunk may be overwritten afterwards. */
  push(chunk: Buffer): boolean {
    let from = 0;
    if (this.#pendingBytes > 0 || this.#long !== null) {
      const newline = chunk.indexOf(NEWLINE);
      if (newline === -1) {
        this.#keep(chunk);
        this.#offset += chunk.length;
        return true;
      }
      this.#keep(chunk.subarray(0, newline));
      this.#endPending(this.#offset + newline);
      from = newline + 1;
    }
    const to = chunk.lastIndexOf(NEWLINE) + 1;
    if (to > from) this.#region(chunk, from, to, this.#offset);
    this.#keep(chunk.subarray(Math.max(from, to)));
    this.#offset += chunk.length;
    return !this.#clock.isPast;
  }

  /** Ends the last line: the next data does not continue it. */
  endLine(): void {
    this.#endPending(this.#offset);
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#long !== null) {
      this.#long.push(bytes);
      return;
    }
    // A file truncated under its writer begins with a hole, which reads as NUL bytes before the next line.
    const part = this.#pendingBytes === 0 ? bytes.subarray(leadingNuls(bytes)) : bytes;
    if (part.length === 0) return;
    this.#pending.push(Buffer.from(part));
    this.#pendingBytes += part.length;
    if (this.#pendingBytes <= MAX_LINE_BYTES) return;
    this.overlongLines += 1;
    this.#long = new LongLine(this.#takePending(), this.options.matcher, (text) => this.sink.piece?.(text));
  }

  #takePending(): Buffer {
    const [only] = this.#pending;
    const line = this.#pending.length === 1 && only !== undefined ? only : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    return line;
  }

  /** @param end position in the data where the pending line ends. */
  #endPending(end: number): void {
    if (this.#long !== null) {
      const { head } = this.#long;
      this.#clock.enterRegion(head, 0, head.length);
      if (this.#long.finish()) this.#hit(head, 0, head.length, 0, end - head.length, true);
      this.#clock.leaveRegion(head, 0, head.length);
      this.sink.endPieces?.();
      this.#long = null;
    } else if (this.#pendingBytes > 0) {
      const line = this.#takePending();
      this.#region(line, 0, line.length, end - line.length);
    }
  }

  /** Whole lines buf[from, to); the last may lack its newline. */
  #region(buf: Buffer, from: number, to: number, offset: number): void {
    const { matcher } = this.options;
    const region = to === buf.length ? buf : buf.subarray(0, to);
    if (this.#timed) this.#clock.enterRegion(region, from, to);
    let at = matcher.next(region, from);
    while (at !== -1) {
      const lineFrom = at === from ? from : Math.max(from, region.lastIndexOf(NEWLINE, at - 1) + 1);
      const newline = region.indexOf(NEWLINE, at);
      const lineTo = newline === -1 ? to : newline;
      if (matcher.accepts(region, at, lineFrom, lineTo)) {
        this.#hit(region, lineFrom, lineTo, from, offset, false);
        at = lineTo + 1 >= to ? -1 : matcher.next(region, lineTo + 1);
      } else {
        at = matcher.next(region, at + 1);
      }
    }
    if (this.#timed) this.#clock.leaveRegion(region, from, to);
  }

  #hit(bytes: Buffer, from: number, to: number, regionFrom: number, offset: number, cut: boolean): void {
    const { window } = this.options;
    const own = this.#timed ? this.#clock.timeOf(bytes, from, to, regionFrom) : null;
    if (window !== null && own?.zoneName === 'not_ours') this.foreignZoneLines += 1;
    const time = own === null || window === null ? own : timeWithin(own, window);
    if (own !== null && time === null) return;
    if (own !== null && own.againMs !== null && time?.againMs === null) this.doubtfulLines += 1;
    const end = to > from && bytes[to - 1] === CARRIAGE_RETURN ? to - 1 : to;
    this.sink.line({ bytes, from, to: end, offset: offset + from, time, cut });
  }
}

function leadingNuls(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && bytes[count] === 0) count += 1;
  return count;
}

/** Longer lines are kept up to this length. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Pieces overlap, so that each path, field or phrase is whole in one of them. */
const OVERLAP_BYTES = 4_096;

/**
 * A line too long to hold in memory (a zip bomb, a file without newlines): its beginning is kept, the rest is searched piece by
 * piece. The time of such a line comes from its beginning.
 */
class LongLine {
  /** The first MAX_LINE_BYTES, or slightly more. */
  readonly head: Buffer;
  #tail: Buffer;
  #matched: boolean;

  /** @param onPiece called with every piece after the head, as latin1; pieces overlap. */
  constructor(
    head: Buffer,
    private readonly matcher: LineMatcher,
    private readonly onPiece: (latin1: string) => void,
  ) {
    this.head = head;
    this.#matched = this.#isHit(head, false, true);
    this.#tail = Buffer.from(head.subarray(-OVERLAP_BYTES));
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const piece = Buffer.concat([this.#tail, chunk]);
    this.#matched ||= this.#isHit(piece, false, false);
    this.onPiece(piece.toString('latin1'));
    this.#tail = Buffer.from(piece.subarray(-OVERLAP_BYTES));
  }

  /** Ends the line. @returns whether it matched. */
  finish(): boolean {
    return this.#matched || this.#isHit(this.#tail, true, false);
  }

  /** A candidate at the end of a piece may continue in the next one, so it counts only in the last; likewise at the start. */
  #isHit(piece: Buffer, isLast: boolean, isFirst: boolean): boolean {
    const { matcher } = this;
    for (let at = matcher.next(piece, 0); at !== -1; at = matcher.next(piece, at + 1)) {
      if (at === 0 && !isFirst) continue;
      if (at + matcher.reach > piece.length && !isLast) return false;
      if (matcher.accepts(piece, at, 0, piece.length)) return true;
    }
    return false;
  }
}

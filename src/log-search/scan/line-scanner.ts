// Finds matching lines in a stream of bytes. Used by scan-file.ts, one scanner a file and attempt. Bytes arrive in
// chunks of any size; a chunk is searched in place, and only a line across a border is copied. Lines without a candidate
// are not looked at. The sink processes the hits (interfaces, counts, samples).
import type { LineMatcher } from '../match/card-matcher.ts';
import { type ClockOptions, LineClock, type TimeSpan, timeWithin, UNDATED } from '../time/line-clock.ts';
import { hasSeveralTimes } from '../time/time-reader.ts';
import type { LineInstants } from '../time/zone.ts';

export interface ScannedLine {
  /** The line is bytes[from, to), without its newline; valid only during the call. */
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** Position of the line in the file's (inflated) data. */
  readonly offset: number;
  /** Of two times that the line may have, only those in the window; UNDATED when it has none. */
  readonly time: LineInstants;
}

export interface LineSink {
  line(line: ScannedLine): void;
}

export interface ScanOptions extends ClockOptions {
  readonly matcher: LineMatcher;
  readonly window: TimeSpan | null;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const OPEN = 0x7b;
/** A longer line is searched in parts of this length. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Parts overlap, so that the card is whole in one of them. */
const OVERLAP_BYTES = 64;
/** So much of a line with the card twice is searched for several times. */
const LOOK_BYTES = 65_536;

export class LineScanner {
  readonly #clock: LineClock;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Number of bytes before the present chunk. */
  #offset = 0;
  /** The pending bytes are a part of a line that is too long to be kept. */
  #isLong = false;
  /** Number of matching parts of such lines. */
  longParts = 0;
  /** Number of matching lines that have one time in the window and may have another outside it. */
  doubtfulLines = 0;
  /** Number of lines that have the card only inside a longer number. */
  insideNumbers = 0;
  /** Number of matching lines that hold more than one record. */
  severalRecords = 0;

  constructor(
    private readonly options: ScanOptions,
    private readonly sink: LineSink,
  ) {
    this.#clock = new LineClock(options);
  }

  /** @returns false when nothing that follows can be in the window. The chunk may be overwritten afterwards. */
  push(chunk: Buffer): boolean {
    let from = 0;
    if (this.#pendingBytes > 0) {
      const newline = chunk.indexOf(NEWLINE);
      const end = newline === -1 ? chunk.length : newline;
      this.#keep(chunk.subarray(0, end), this.#offset + end);
      if (newline !== -1) this.#endLine(this.#offset + newline);
      from = newline === -1 ? chunk.length : newline + 1;
    }
    const to = chunk.lastIndexOf(NEWLINE) + 1;
    if (to > from) this.#region(chunk, from, to, this.#offset);
    this.#keep(chunk.subarray(Math.max(from, to)), this.#offset + chunk.length);
    this.#offset += chunk.length;
    return !this.#clock.isPast;
  }

  /** Ends the last line: the next data does not continue it. */
  endLine(): void {
    this.#endLine(this.#offset);
  }

  #endLine(end: number): void {
    this.#endPending(end);
    this.#isLong = false;
  }

  /** @param end position in the data where the bytes end. */
  #keep(bytes: Buffer, end: number): void {
    // A file truncated under its writer begins with a hole, which reads as NUL bytes before the next line.
    const part = this.#pendingBytes === 0 ? bytes.subarray(leadingNuls(bytes)) : bytes;
    if (part.length === 0) return;
    this.#pending.push(Buffer.from(part));
    this.#pendingBytes += part.length;
    if (this.#pendingBytes <= MAX_LINE_BYTES) return;
    this.#isLong = true;
    const overlap = Buffer.from(Buffer.concat(this.#pending).subarray(-OVERLAP_BYTES));
    this.#endPending(end);
    this.#pending.push(overlap);
    this.#pendingBytes = overlap.length;
  }

  /** @param end position in the data where the pending line ends. */
  #endPending(end: number): void {
    if (this.#pendingBytes === 0) return;
    const [only] = this.#pending;
    const line = this.#pending.length === 1 && only !== undefined ? only : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#region(line, 0, line.length, end - line.length);
  }

  /** Whole lines buf[from, to); the last may lack its newline. */
  #region(buf: Buffer, from: number, to: number, offset: number): void {
    const { matcher } = this.options;
    const region = to === buf.length ? buf : buf.subarray(0, to);
    this.#clock.enterRegion(region, from, to);
    let inside: readonly [from: number, to: number] | null = null;
    for (let at = matcher.next(region, from); at !== -1; ) {
      const lineFrom = at === from ? from : Math.max(from, region.lastIndexOf(NEWLINE, at - 1) + 1);
      const newline = region.indexOf(NEWLINE, at);
      const lineTo = newline === -1 ? to : newline;
      if (inside !== null && inside[0] !== lineFrom) {
        this.#noteInside(region, ...inside, from);
        inside = null;
      }
      if (matcher.accepts(region, at, lineFrom, lineTo)) {
        this.#hit(region, lineFrom, lineTo, from, offset, at);
        inside = null;
        at = lineTo + 1 >= to ? -1 : matcher.next(region, lineTo + 1);
      } else {
        if (matcher.isInside?.(region, at, lineTo)) inside = [lineFrom, lineTo];
        at = matcher.next(region, at + 1);
      }
    }
    if (inside !== null) this.#noteInside(region, ...inside, from);
    this.#clock.leaveRegion(region, from, to);
  }

  #noteInside(bytes: Buffer, from: number, to: number, regionFrom: number): void {
    const { window } = this.options;
    const time = window === null ? null : this.#clock.timeOf(bytes, from, to, regionFrom);
    if (time === null || window === null || typeof time !== 'object' || timeWithin(time, window) !== null)
      this.insideNumbers += 1;
  }

  #hit(bytes: Buffer, from: number, to: number, regionFrom: number, offset: number, at: number): void {
    const { window } = this.options;
    const own = this.#clock.timeOf(bytes, from, to, regionFrom);
    const isObject = typeof own === 'object' && bytes[from] === OPEN;
    if (!isObject && this.#isTwice(bytes, from, to, at, own === 'several')) this.severalRecords += 1;
    if (this.#isLong) this.longParts += 1;
    const dated = typeof own === 'object' ? own : UNDATED;
    const time = window === null || dated === UNDATED ? dated : timeWithin(dated, window);
    if (time === null) return;
    if (dated.againMs !== null && time.againMs === null) this.doubtfulLines += 1;
    const end = to > from && bytes[to - 1] === CARRIAGE_RETURN ? to - 1 : to;
    this.sink.line({ bytes, from, to: end, offset: offset + from, time });
  }

  /** Whether the line has the card again, and more than one time: it may be several records, which are counted as one. */
  #isTwice(bytes: Buffer, from: number, to: number, at: number, isSeveral: boolean): boolean {
    if (this.options.matcher.next(bytes.subarray(0, to), at + 1) === -1) return false;
    return isSeveral || hasSeveralTimes(bytes.toString('latin1', from, Math.min(to, from + LOOK_BYTES)));
  }
}

function leadingNuls(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && bytes[count] === 0) count += 1;
  return count;
}

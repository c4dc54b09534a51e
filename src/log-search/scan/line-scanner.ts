// Finds matching lines in regions of whole lines. Used by scan-file.ts, one scanner per file and attempt. A region is searched in
// place; lines without a candidate are not read. The sink processes the hits (interfaces, counts, samples).
import type { LineMatcher } from '../match/card-matcher.ts';
import { type ClockOptions, LineClock, type TimeSpan, timeWithin, UNDATED } from '../time/line-clock.ts';
import { hasSeveralTimes } from '../time/time-reader.ts';
import type { LineInstants } from '../time/zone.ts';
import type { Region, RegionSink } from './whole-lines.ts';

export interface ScannedLine {
  /** The line is bytes[from, to), without its newline; valid only during the call. */
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** Position of the line in the file's (inflated) data. */
  readonly offset: number;
  /** If the line has two possible times, only those in the window; UNDATED without a time. */
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
/** Number of bytes of a line with the card twice that are searched for several times. */
const LOOK_BYTES = 65_536;

export class LineScanner implements RegionSink {
  readonly #clock: LineClock;
  /** Number of matching parts of such lines. */
  longParts = 0;
  /** Number of matching lines with one possible time in the window and another that may be outside. */
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

  /** Whether no further line can be in the window. */
  get isPast(): boolean {
    return this.#clock.isPast;
  }

  region({ buf, from, to, offset, isPart }: Region): void {
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
        if (isPart) this.longParts += 1;
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
    const dated = typeof own === 'object' ? own : UNDATED;
    const time = window === null || dated === UNDATED ? dated : timeWithin(dated, window);
    if (time === null) return;
    if (dated.againMs !== null && time.againMs === null) this.doubtfulLines += 1;
    const end = to > from && bytes[to - 1] === CARRIAGE_RETURN ? to - 1 : to;
    this.sink.line({ bytes, from, to: end, offset: offset + from, time });
  }

  /** Whether the line contains the card again, and more than one time: it may be several records, which are counted as one. */
  #isTwice(bytes: Buffer, from: number, to: number, at: number, isSeveral: boolean): boolean {
    if (this.options.matcher.next(bytes.subarray(0, to), at + 1) === -1) return false;
    return isSeveral || hasSeveralTimes(bytes.toString('latin1', from, Math.min(to, from + LOOK_BYTES)));
  }
}

// What time a line counts as. Its own, else that of the line before it, back to the first time of the file, else the
// day the file's name or mtime gives. Used by line-scanner.ts, one a file. Looks back only when a hit needs it
// and, once a region, for the last time in it; where that last look would take long it gives up, and if a hit turns out
// to need what was given up, UnknownTime asks for the file to be scanned again with `exact`.
import { timeOfLine } from './timestamps.ts';
import type { Zone } from './zone.ts';

/** fromMs <= time < toMs. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Thrown to have a file scanned again with `exact`. */
export class UnknownTime extends Error {
  override readonly name = 'UnknownTime';
}

const NEWLINE = 0x0a;
const LOOK_BYTES = 65_536;
/** A few lines with odd dates in them must not end a search: only so many late ones in a row do. */
const LATE_LINES = 16;
/** Looked at in one region, so that two decide. */
const LATE_LINES_A_REGION = 8;

interface ClockOptions {
  readonly zone: Zone;
  /** The day of lines in a file without any time. */
  readonly fallback: TimeSpan;
  /** Never give up looking; `first` is then the file's first time, found beforehand, or null. */
  readonly exact: boolean;
  readonly first: number | null;
  /** Lines later than this are late; null: none is. */
  readonly stopPastMs: number | null;
}

export class LineClock {
  /** Time of the last line with one before the present region; null: none so far; undefined: not looked for. */
  #carried: number | null | undefined = null;
  #first: number | null | undefined;
  /** Start and time of the line asked about last in the present region; hits come in order. */
  #askedFrom = -1;
  #asked: TimeSpan | null = null;
  /** At the end of the region before, in a row. */
  #lateLines = 0;

  constructor(private readonly options: ClockOptions) {
    this.#first = options.exact ? options.first : undefined;
  }

  /** Whether nothing that follows can be of interest, as far as times rise. */
  get isPast(): boolean {
    return this.#lateLines >= LATE_LINES;
  }

  /** Time of the line buf[lineFrom, lineTo) in the region that starts at regionFrom. */
  timeOf(buf: Buffer, lineFrom: number, lineTo: number, regionFrom: number): TimeSpan {
    this.#asked = this.#resolve(buf, lineFrom, lineTo, regionFrom);
    this.#askedFrom = lineFrom;
    return this.#asked;
  }

  #resolve(buf: Buffer, lineFrom: number, lineTo: number, regionFrom: number): TimeSpan {
    let from = lineFrom;
    let to = lineTo;
    for (;;) {
      const time = timeOfLine(buf, from, to, this.options.zone);
      if (time !== undefined) return instant(time);
      if (from <= regionFrom) return this.#inherited();
      to = from - 1;
      from = startOfLine(buf, to, regionFrom);
      if (this.#asked !== null && from <= this.#askedFrom) return this.#asked;
    }
  }

  /** Called with every region of whole lines, before its hits are asked about. */
  enterRegion(buf: Buffer, from: number, to: number): void {
    this.#asked = null;
    if (this.#first === undefined && this.#carried === null) this.#first = this.#firstTime(buf, from, to);
  }

  /** Called when a region is done: what its end passes on to the next. */
  leaveRegion(buf: Buffer, from: number, to: number): void {
    const { zone, exact, stopPastMs } = this.options;
    const isLate = (time: number) => stopPastMs !== null && time > stopPastMs;
    let lineTo = to;
    let nearest: number | undefined;
    let late = 0;
    while (lineTo > from && late < LATE_LINES_A_REGION) {
      if (to - lineTo > LOOK_BYTES && (nearest !== undefined || !exact)) break;
      const lineFrom = startOfLine(buf, lineTo - 1, from);
      const time = timeOfLine(buf, lineFrom, lineTo, zone);
      lineTo = lineFrom;
      if (time === undefined) continue;
      nearest ??= time;
      if (!isLate(time)) {
        this.#lateLines = 0;
        break;
      }
      late += 1;
    }
    this.#lateLines += late;
    if (nearest !== undefined) this.#carried = nearest;
    else if (lineTo > from) this.#carried = undefined;
  }

  #inherited(): TimeSpan {
    if (this.#carried === undefined) throw new UnknownTime();
    if (this.#carried !== null) return instant(this.#carried);
    if (this.#first === undefined) throw new UnknownTime();
    return this.#first === null ? this.options.fallback : instant(this.#first);
  }

  /** undefined when it is further in than one cares to look, or not in this region. */
  #firstTime(buf: Buffer, from: number, to: number): number | undefined {
    const end = Math.min(to, from + LOOK_BYTES);
    for (let lineFrom = from; lineFrom < end; ) {
      const newline = buf.indexOf(NEWLINE, lineFrom);
      const lineTo = newline === -1 || newline > to ? to : newline;
      const time = timeOfLine(buf, lineFrom, lineTo, this.options.zone);
      if (time !== undefined) return time;
      lineFrom = lineTo + 1;
    }
    return undefined;
  }
}

/** Start of the line whose newline (or last byte) is at `at`. */
function startOfLine(buf: Buffer, at: number, regionFrom: number): number {
  if (at <= regionFrom) return regionFrom;
  return Math.max(regionFrom, buf.lastIndexOf(NEWLINE, at - 1) + 1);
}

function instant(time: number): TimeSpan {
  return { fromMs: time, toMs: time + 1 };
}

export function overlaps(span: TimeSpan, window: TimeSpan): boolean {
  return span.fromMs < window.toMs && span.toMs > window.fromMs;
}

// Decides which time a line counts as: its own, else that of the line before it, else the first time of the file, else the
// day of the file's name or mtime. Used by line-scanner.ts, one per file. It looks back only when a hit needs it and, once
// per region, for the last time in it; if that would take long it gives up. If a hit then needs that time, UnknownTime
// asks for a second scan of the file with `first`.
import { timeOfLine } from './timestamps.ts';
import type { LineInstants, Zone } from './zone.ts';

/** fromMs <= time < toMs. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time of a line. */
export interface LineTime extends LineInstants {
  /** 1 for an instant; more for a line of which only the day is known. */
  readonly lengthMs: number;
}

/** Thrown to request a second scan of the file with `first`. */
export class UnknownTime extends Error {
  override readonly name = 'UnknownTime';
}

const NEWLINE = 0x0a;
const LOOK_BYTES = 65_536;
/** A few lines with wrong dates must not end a search: this many late lines in a row do. */
const LATE_LINES = 16;
/** Maximum per region, so that at least two regions decide. */
const LATE_LINES_A_REGION = 8;

export interface ClockOptions {
  readonly zone: Zone;
  /** The day for lines of a file without any time. */
  readonly fallback: TimeSpan;
  /** The file's first time, or null if it has none: never give up the search. Absent: not known. */
  readonly first?: LineInstants | null;
  /** Lines after this instant are late; null: no line is late. */
  readonly stopPastMs: number | null;
}

export class LineClock {
  /** Time of the last line with a time before the present region; null: none so far; undefined: unknown. */
  #carried: LineInstants | null | undefined = null;
  #first: LineInstants | null | undefined;
  /** Start and time of the last hit in the present region; hits come in order. */
  #askedFrom = -1;
  #asked: LineTime | null = null;
  /** Number of consecutive late lines at the end of the previous region. */
  #lateLines = 0;

  constructor(private readonly options: ClockOptions) {
    this.#first = options.first;
  }

  /** Whether all following lines are late, if times increase. */
  get isPast(): boolean {
    return this.#lateLines >= LATE_LINES;
  }

  /** Time of the line buf[lineFrom, lineTo) in the region that starts at regionFrom. */
  timeOf(buf: Buffer, lineFrom: number, lineTo: number, regionFrom: number): LineTime {
    this.#asked = this.#resolve(buf, lineFrom, lineTo, regionFrom);
    this.#askedFrom = lineFrom;
    return this.#asked;
  }

  #resolve(buf: Buffer, lineFrom: number, lineTo: number, regionFrom: number): LineTime {
    let from = lineFrom;
    let to = lineTo;
    for (;;) {
      const time = timeOfLine(buf, from, to, this.options.zone);
      if (time !== undefined) return lineTime(time);
      if (from <= regionFrom) return this.#inherited();
      to = from - 1;
      from = startOfLine(buf, to, regionFrom);
      if (this.#asked !== null && from <= this.#askedFrom) return this.#asked;
    }
  }

  /** Called with every region of whole lines, before its hits. */
  enterRegion(buf: Buffer, from: number, to: number): void {
    this.#asked = null;
    if (this.#first === undefined && this.#carried === null) this.#first = this.#firstTime(buf, from, to);
  }

  /** Called at the end of a region: keeps its last time for the next region. */
  leaveRegion(buf: Buffer, from: number, to: number): void {
    const { zone, first, stopPastMs } = this.options;
    const isLate = ({ ms }: LineInstants) => stopPastMs !== null && ms > stopPastMs;
    let lineTo = to;
    let nearest: LineInstants | undefined;
    let late = 0;
    while (lineTo > from && late < LATE_LINES_A_REGION) {
      if (to - lineTo > LOOK_BYTES && (nearest !== undefined || first === undefined)) break;
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

  #inherited(): LineTime {
    if (this.#carried === undefined) throw new UnknownTime();
    if (this.#carried !== null) return lineTime(this.#carried);
    if (this.#first === undefined) throw new UnknownTime();
    if (this.#first !== null) return lineTime(this.#first);
    const { fromMs, toMs } = this.options.fallback;
    return { ms: fromMs, againMs: null, lengthMs: toMs - fromMs };
  }

  /** undefined when there is no time within LOOK_BYTES of the region. */
  #firstTime(buf: Buffer, from: number, to: number): LineInstants | undefined {
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

/** The start of the line with its newline (or last byte) at `at`. */
function startOfLine(buf: Buffer, at: number, regionFrom: number): number {
  if (at <= regionFrom) return regionFrom;
  return Math.max(regionFrom, buf.lastIndexOf(NEWLINE, at - 1) + 1);
}

function lineTime(instants: LineInstants): LineTime {
  return { ...instants, lengthMs: 1 };
}

/** The times of the line that are in the window, the earlier first; null: none. */
export function timeWithin(time: LineTime, window: TimeSpan): LineTime | null {
  const fits = (ms: number) => ms < window.toMs && ms + time.lengthMs > window.fromMs;
  const { ms, againMs } = time;
  const again = againMs !== null && fits(againMs) ? againMs : null;
  if (fits(ms)) return { ...time, againMs: again };
  return again === null ? null : { ...time, ms: again, againMs: null };
}

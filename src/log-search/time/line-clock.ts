// Decides the time of a line: its own, or that of the record it continues, otherwise none. Used by line-scanner.ts, one per file.
// It looks back only when a hit needs it, and at most LOOK_BYTES, so each region leaves the lines of its last record to the next
// one. Also notices, once per region, when the lines of a file that runs forwards are later than the window.
import { continuesRecord, RecordWalk } from './record-lines.ts';
import { type LineReading, MTIME_SLACK_MS, type TimeReader } from './time-reader.ts';
import type { LineInstants } from './zone.ts';

/** fromMs <= time < toMs. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The line has no readable time. It is in no window, and is sorted after the others. */
export const UNDATED: LineInstants = { ms: Number.POSITIVE_INFINITY, againMs: null };

const NEWLINE = 0x0a;
const LOOK_BYTES = 65_536;
/** A few lines with wrong dates must not end a search; this many late lines in a row do. */
const LATE_LINES = 16;
/** Maximum per region, so that at least two regions decide. */
const LATE_LINES_A_REGION = 8;
const NONE = Buffer.alloc(0);

export interface ClockOptions {
  readonly times: TimeReader;
  /** Lines after this instant are late; null: no line is late. */
  readonly stopPastMs: number | null;
  /** Modification time of the file: a much later time comes from a wrong clock. */
  readonly mtimeMs: number;
}

export class LineClock {
  /** The lines of the record that is open at the end of the previous region; null: longer than the stored length. */
  #open: Buffer | null = NONE;
  /** The last hit that continues a record of this region. */
  #asked: {
    readonly from: number;
    readonly level: number;
    readonly time: Exclude<LineReading, undefined>;
  } | null = null;
  /** Number of consecutive late lines at the end of the previous regions. */
  #lateLines = 0;
  #lastMs: number | null = null;
  /** Number of regions that end later than the previous one minus those that end earlier. */
  #forwards = 0;

  constructor(private readonly options: ClockOptions) {}

  /** Whether all following lines are late, since the file runs forwards. */
  get isPast(): boolean {
    return this.#lateLines >= LATE_LINES && this.#forwards > 0;
  }

  /** Time of the line buf[lineFrom, lineTo) in the region that starts at regionFrom. */
  timeOf(buf: Buffer, lineFrom: number, lineTo: number, regionFrom: number): Exclude<LineReading, undefined> {
    const walk = new RecordWalk(this.options.times);
    const own = walk.back(buf, lineFrom, lineTo);
    if (own !== undefined) return own;
    const { level } = walk;
    const above = this.#above(walk, buf, lineFrom, regionFrom) ?? 'unreadable';
    const time = typeof above === 'object' ? { ...above, isContinued: true as const } : above;
    this.#asked = { from: lineFrom, level, time };
    return time;
  }

  #above(walk: RecordWalk, buf: Buffer, below: number, regionFrom: number): LineReading {
    let from = below;
    while (from > regionFrom && below - from <= LOOK_BYTES) {
      const to = from - 1;
      from = startOfLine(buf, to, regionFrom);
      if (this.#asked?.from === from && this.#asked.level === walk.level) return this.#asked.time;
      const time = walk.back(buf, from, to);
      if (time !== undefined) return time;
    }
    const open = from > regionFrom ? null : this.#open;
    for (let to = (open?.length ?? 0) - 1; open !== null && to > 0; ) {
      const start = startOfLine(open, to, 0);
      const time = walk.back(open, start, to);
      if (time !== undefined) return time;
      to = start - 1;
    }
    return undefined;
  }

  /** Called with every region of whole lines, before its hits. */
  enterRegion(buf: Buffer, from: number, to: number): void {
    this.#asked = null;
    if (this.#lastMs === null && this.options.stopPastMs !== null) this.#noteFirst(buf, from, to);
  }

  /** Called at the end of a region: keeps the lines of its last record. */
  leaveRegion(buf: Buffer, from: number, to: number): void {
    const start = this.#lastRecord(buf, from, to);
    const before = start === null ? this.#open : NONE;
    const isShort = before !== null && before.length + to - (start ?? from) <= LOOK_BYTES;
    this.#open = isShort ? joined(before, buf.subarray(start ?? from, to)) : null;
    if (this.options.stopPastMs !== null) this.#countLate(buf, from, to, this.options.stopPastMs);
  }

  /** Start of the last record of the region; null: before the region, or further back than the stored length. */
  #lastRecord(buf: Buffer, from: number, to: number): number | null {
    for (let lineTo = to; lineTo > from && to - lineTo <= LOOK_BYTES; ) {
      const start = startOfLine(buf, lineTo - 1, from);
      if (!continuesRecord(buf, start, lineTo)) return to - start <= LOOK_BYTES ? start : null;
      lineTo = start;
    }
    return null;
  }

  #noteFirst(buf: Buffer, from: number, to: number): void {
    const newline = buf.indexOf(NEWLINE, from);
    const time = this.options.times.read(buf, from, newline === -1 ? to : Math.min(newline, to));
    if (typeof time === 'object') this.#lastMs = time.ms;
  }

  #countLate(buf: Buffer, from: number, to: number, stopPastMs: number): void {
    const { times, mtimeMs } = this.options;
    let nearest: number | null = null;
    let lateLines = 0;
    for (let lineTo = to; lineTo > from && lateLines < LATE_LINES_A_REGION && to - lineTo <= LOOK_BYTES; ) {
      const start = startOfLine(buf, lineTo - 1, from);
      const isStart = !continuesRecord(buf, start, lineTo);
      const time = isStart ? times.read(buf, start, lineTo) : undefined;
      lineTo = start;
      if (!isStart) continue;
      const isLate = typeof time === 'object' && time.ms > stopPastMs && time.ms <= mtimeMs + MTIME_SLACK_MS;
      if (typeof time === 'object') nearest ??= time.ms;
      if (!isLate) {
        this.#lateLines = 0;
        break;
      }
      lateLines += 1;
    }
    this.#lateLines += lateLines;
    if (nearest === null) return;
    this.#forwards += Math.sign(nearest - (this.#lastMs ?? nearest));
    this.#lastMs = nearest;
  }
}

/** A copy of the lines, each with its newline. */
function joined(before: Buffer, lines: Buffer): Buffer {
  return Buffer.concat(lines.at(-1) === NEWLINE ? [before, lines] : [before, lines, Buffer.from('\n')]);
}

/** The start of the line with its newline (or last byte) at `at`. */
function startOfLine(buf: Buffer, at: number, regionFrom: number): number {
  if (at <= regionFrom) return regionFrom;
  return Math.max(regionFrom, buf.lastIndexOf(NEWLINE, at - 1) + 1);
}

/** The times of the line that are in the window, the earlier first; null: none. */
export function timeWithin(time: LineInstants, window: TimeSpan): LineInstants | null {
  const fits = (ms: number) => ms < window.toMs && ms >= window.fromMs;
  const { ms, againMs } = time;
  const again = againMs !== null && fits(againMs) ? againMs : null;
  if (fits(ms)) return { ...time, againMs: again };
  return again === null ? null : { ...time, ms: again, againMs: null };
}

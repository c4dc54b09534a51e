// Decides which time a line counts as: its own, else that of the line before it, else the first time of the file, else the
// day in the file's name, else none. Used by line-scanner.ts, one per file. It looks back only when a hit needs it and, once
// per region, for the last time in it; if that would take long it gives up. If a hit then needs that time, UnknownTime
// asks for a survey of the file and a second scan.
import { DayCarrier, type FileDates, isClockOnly, type KnownTime } from './file-dates.ts';
import { isMemberLine, RecordWalk } from './record-lines.ts';
import type { LineInstants } from './zone.ts';

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

/** The line has no time, or one that cannot be read. It is in every window, and sorted behind the others. */
export const UNDATED: LineTime = { ms: Number.POSITIVE_INFINITY, againMs: null, lengthMs: 0 };

/** Thrown to request a survey of the file, and a second scan. */
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
  readonly dates: FileDates;
  /** Lines after this instant are late; null: no line is late. */
  readonly stopPastMs: number | null;
}

export class LineClock {
  /** Time of the last line with a time before the present region; null: none so far; undefined: unknown. */
  #carried: KnownTime | null | undefined = null;
  /** Start and time of the last hit in the present region; hits come in order. */
  #askedFrom = -1;
  #asked: KnownTime | null = null;
  /** The time of that hit is that of its record, not of the lines behind it. */
  #askedOfRecord = false;
  /** Number of consecutive late lines at the end of the previous region. */
  #lateLines = 0;

  constructor(private readonly options: ClockOptions) {}

  /** Whether all following lines are late, if times increase. */
  get isPast(): boolean {
    return this.#lateLines >= LATE_LINES;
  }

  /** Time of the line buf[lineFrom, lineTo) in the region that starts at regionFrom. */
  timeOf(buf: Buffer, lineFrom: number, lineTo: number, regionFrom: number): LineTime {
    const { zone, named } = this.options.dates;
    const known = this.#lookBack(buf, lineFrom, lineTo, regionFrom);
    if (known === undefined) throw new UnknownTime();
    this.#asked = known;
    this.#askedFrom = lineFrom;
    if (known === 'unreadable') return UNDATED;
    if (known !== null) return { ...known, lengthMs: 1 };
    const day = named === null ? null : zone.dayOf(...named);
    if (day === null) return UNDATED;
    return { ms: day.fromMs, againMs: null, lengthMs: day.toMs - day.fromMs, isDayOfName: true };
  }

  /** null: no line of the file has a time; undefined: not known without a survey. */
  #lookBack(buf: Buffer, lineFrom: number, lineTo: number, regionFrom: number): KnownTime | null | undefined {
    const { dates } = this.options;
    let from = lineFrom;
    let to = lineTo;
    let carrier: DayCarrier | null = null;
    const record = new RecordWalk(buf, lineFrom, lineTo);
    for (;;) {
      const owner = record.back(buf, from, to);
      let own = dates.read(buf, from, to);
      if (own === 'later') return undefined;
      const isMember = own !== undefined && isMemberLine(buf, from, to);
      if (isMember && owner === 'other') return 'unreadable';
      if (isMember && owner === 'inner') own = undefined;
      if (isClockOnly(own)) {
        if (carrier === null) carrier = new DayCarrier(own);
        else carrier.back(own.clockMs);
      } else if (own !== undefined) {
        this.#askedOfRecord = isMember;
        return carrier?.from(own, dates.zone) ?? own;
      }
      if (from <= regionFrom) return this.#inherited(carrier);
      to = from - 1;
      from = startOfLine(buf, to, regionFrom);
      if (from <= this.#askedFrom && this.#askedOfRecord && record.hasLeft) return 'unreadable';
      if (from <= this.#askedFrom)
        return carrier === null ? this.#asked : carrier.from(this.#asked ?? 'unreadable', dates.zone);
    }
  }

  #inherited(carrier: DayCarrier | null): KnownTime | null | undefined {
    const { first, zone } = this.options.dates;
    if (carrier === null) return this.#carried === null ? first : this.#carried;
    // A day is carried forward only.
    return this.#carried === undefined ? undefined : carrier.from(this.#carried ?? 'unreadable', zone);
  }

  /** Called with every region of whole lines, before its hits. */
  enterRegion(buf: Buffer, from: number, to: number): void {
    const { dates } = this.options;
    this.#askedFrom = -1;
    if (dates.first === undefined && this.#carried === null) dates.first = this.#firstTime(buf, from, to);
  }

  /** Called at the end of a region: keeps its last time for the next region. */
  leaveRegion(buf: Buffer, from: number, to: number): void {
    const { dates, stopPastMs } = this.options;
    const isLate = (time: KnownTime) => stopPastMs !== null && time !== 'unreadable' && time.ms > stopPastMs;
    let lineTo = to;
    let nearest: KnownTime | null | undefined;
    let late = 0;
    while (lineTo > from && late < LATE_LINES_A_REGION) {
      if (to - lineTo > LOOK_BYTES && (nearest !== undefined || dates.first === undefined)) break;
      const lineFrom = startOfLine(buf, lineTo - 1, from);
      const own = dates.readForOthers(buf, lineFrom, lineTo);
      const isDayLess = own === 'later' || isClockOnly(own);
      const time = isDayLess ? this.#lookBack(buf, lineFrom, lineTo, from) : own;
      lineTo = lineFrom;
      if (isDayLess && time === undefined) {
        this.#carried = undefined;
        return;
      }
      if (time === undefined || time === null) continue;
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

  /** undefined when there is no time within LOOK_BYTES of the region. */
  #firstTime(buf: Buffer, from: number, to: number): KnownTime | undefined {
    const end = Math.min(to, from + LOOK_BYTES);
    for (let lineFrom = from; lineFrom < end; ) {
      const newline = buf.indexOf(NEWLINE, lineFrom);
      const lineTo = newline === -1 || newline > to ? to : newline;
      const time = this.options.dates.readForOthers(buf, lineFrom, lineTo);
      if (time === 'later') return undefined;
      if (time !== undefined) return isClockOnly(time) ? 'unreadable' : time;
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

/** The times of the line that are in the window, the earlier first; null: none. */
export function timeWithin(time: LineTime, window: TimeSpan): LineTime | null {
  if (time === UNDATED) return time;
  const fits = (ms: number) => ms < window.toMs && ms + time.lengthMs > window.fromMs;
  const { ms, againMs } = time;
  if (time.lengthMs > 1 && fits(ms) && (ms < window.fromMs || ms + time.lengthMs > window.toMs))
    return UNDATED;
  const again = againMs !== null && fits(againMs) ? againMs : null;
  if (fits(ms)) return { ...time, againMs: again };
  return again === null ? null : { ...time, ms: again, againMs: null };
}

// What the times of one file have in common, and what a format leaves out: the year, the day, which of two numbers is the
// month. Used by line-clock.ts for every time it reads. Where the file does not say, a time is unreadable, never guessed.
import { isMemberLine } from './record-lines.ts';
import { instantsOf, timeOfLine, type Written } from './timestamps.ts';
import type { LineInstants, Zone } from './zone.ts';

/** The day of a file's name: year, month, day. */
export type NamedDay = readonly [number, number, number];

/** `unreadable`: the line has a time, but which one is not known. */
export type KnownTime = LineInstants | 'unreadable';

/** A time of day, whose day is that of the lines before it. */
interface ClockOnly {
  readonly clockMs: number;
}

export function isClockOnly(time: unknown): time is ClockOnly {
  return typeof time === 'object' && time !== null && 'clockMs' in time;
}

/** Clocks differ, and lines come late: a line may be so much younger than what it must not be after. */
const SLACK_MS = 36 * 3_600_000;
const YEARS_BACK = 8;
/** A log is seldom longer than a year. */
const NEAR_MS = 366 * 24 * 3_600_000;

export class FileDates {
  /** The file's first time; null: it has none; undefined: not known yet. */
  first: KnownTime | null | undefined;
  /** A time needs to know which of two numbers is the day, and the file was not searched for it. */
  #needsOrder = false;
  /** A time of the file that is written in full. */
  #dated: number | null = null;
  #isSurveyed = false;
  readonly #orders = new Set<Written['order']>();

  constructor(
    public zone: Zone,
    /** The only day in its name. */
    readonly named: NamedDay | null,
    private readonly mtimeMs: number,
  ) {}

  /** Looks at a line for what the lines have in common. Returns whether more lines are needed. */
  survey(buf: Buffer, from: number, to: number): boolean {
    const time = this.readForOthers(buf, from, to);
    if (time !== undefined) this.first ??= time === 'later' || isClockOnly(time) ? 'unreadable' : time;
    return this.first === undefined || this.#needsOrder;
  }

  /** Every line was looked at: what they do not say is not known. */
  endSurvey(): void {
    this.#isSurveyed = true;
    this.#needsOrder = false;
    this.first ??= null;
  }

  /** The time of a line. `later`: it needs a survey of the file. */
  read(buf: Buffer, from: number, to: number): KnownTime | ClockOnly | 'later' | undefined {
    const written = timeOfLine(buf, from, to);
    return written === undefined || written === 'unreadable' ? written : this.#complete(written);
  }

  /** The time of a line, as far as other lines may have it. */
  readForOthers(buf: Buffer, from: number, to: number): ReturnType<FileDates['read']> {
    const time = this.read(buf, from, to);
    return time !== undefined && isMemberLine(buf, from, to) ? 'unreadable' : time;
  }

  #complete(written: Written): ReturnType<FileDates['read']> {
    if (written.epochMs === null && written.month === null) return this.#timeOfDay(written);
    const ordered = this.#ordered(written);
    if (ordered === 'later' || ordered === 'unreadable') return ordered;
    const full = instantsOf(ordered, this.zone);
    if (full === undefined) return this.#withYear(ordered);
    this.#dated = full.ms;
    return full;
  }

  #timeOfDay(written: Written): LineInstants | ClockOnly {
    if (this.named === null) return { clockMs: written.clockMs };
    const [year, month, day] = this.named;
    const full = instantsOf({ ...written, year, month, day }, this.zone);
    return full === undefined ? { clockMs: written.clockMs } : { ...full, isDayOfName: true };
  }

  /** A file whose lines contradict each other says nothing. */
  #ordered(written: Written): Written | 'later' | 'unreadable' {
    const days = this.#possible(written);
    const [day] = days;
    if (day !== undefined && days.length === 1) {
      if (day.order !== null) this.#orders.add(day.order);
      return day;
    }
    if (!this.#isSurveyed) {
      this.#needsOrder = true;
      return 'later';
    }
    const [order, other] = [...this.#orders];
    return (other === undefined && days.find((one) => one.order === order)) || 'unreadable';
  }

  /** What three numbers mean far from the day of the name, or from the last writing, they do not mean. */
  #possible(written: Written): Written[] {
    const days = [written, ...written.others].map((day) => ({ ...written, ...day, others: [] }));
    if (!days.some(({ order }) => order === 'year_first')) return days;
    const limit = this.#limitMs();
    return days.filter((day) => {
      const ms = instantsOf(day, this.zone)?.ms;
      return ms !== undefined && ms <= limit && ms > limit - NEAR_MS;
    });
  }

  /** The year next to a line with a year, else the latest one that is not after the name's day or the last writing. */
  #withYear(written: Written): KnownTime {
    const dated = this.#dated;
    const limit = this.#limitMs();
    const last = new Date(dated ?? limit).getUTCFullYear() + 1;
    const possible = Array.from({ length: YEARS_BACK + 1 }, (_, back) =>
      yearOf(written, last - back),
    ).flatMap((one) => (one === null ? [] : (instantsOf(one, this.zone) ?? [])));
    const distance = ({ ms }: LineInstants) => Math.abs(ms - (dated ?? limit));
    if (dated !== null) return possible.sort((a, b) => distance(a) - distance(b))[0] ?? 'unreadable';
    return possible.find(({ ms }) => ms <= limit) ?? 'unreadable';
  }

  #limitMs(): number {
    const named = this.named === null ? null : this.zone.dayOf(...this.named);
    return (named?.toMs ?? this.mtimeMs) + SLACK_MS;
  }
}

/** Null for a day that the year does not have. */
function yearOf(written: Written, year: number): Written | null {
  const { month, day } = written;
  const exists = month !== 2 || day !== 29 || new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  return exists ? { ...written, year } : null;
}

/** Goes back from a time of day, line by line, to one with a date, and counts the midnights between them. */
export class DayCarrier {
  readonly #wanted: number;
  #last: number;
  #days = 0;

  constructor({ clockMs }: ClockOnly) {
    this.#wanted = clockMs;
    this.#last = clockMs;
  }

  back(clockMs: number): void {
    if (clockMs > this.#last + LATE_MS) this.#days += 1;
    this.#last = clockMs;
  }

  from(dated: KnownTime, zone: Zone): KnownTime {
    if (dated === 'unreadable') return dated;
    const wall = dated.ms + zone.offsetAt(dated.ms);
    const midnight = Math.floor(wall / DAY_MS) * DAY_MS;
    this.back(wall - midnight);
    return zone.instantsOf(midnight + this.#days * DAY_MS + this.#wanted);
  }
}

const DAY_MS = 86_400_000;
/** Lines may be so much out of order within a day. */
const LATE_MS = 2 * 3_600_000;

// Times as other programs write them, for tests of the log search: the parts of an instant in Asia/Shanghai or UTC.
export interface Parts {
  readonly ms: number;
  readonly year: string;
  readonly month: string;
  readonly day: string;
  /** HH:MM:SS */
  readonly clock: string;
  readonly fraction: string;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly monthName: string;
  readonly weekday: string;
  readonly utc: Parts;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const WEEKDAYS = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ');
const SHANGHAI_MS = 8 * 3_600_000;

/** @param offsetMs of the zone that the parts are in. */
export function partsOf(ms: number, offsetMs = SHANGHAI_MS): Parts {
  const wall = new Date(ms + offsetMs);
  const iso = wall.toISOString();
  return {
    ms,
    year: iso.slice(0, 4),
    month: iso.slice(5, 7),
    day: iso.slice(8, 10),
    clock: iso.slice(11, 19),
    fraction: iso.slice(20, 23),
    date: iso.slice(0, 10),
    monthName: MONTHS[wall.getUTCMonth()] ?? '',
    weekday: WEEKDAYS[wall.getUTCDay()] ?? '',
    get utc() {
      return partsOf(ms, 0);
    },
  };
}

/** 9:05:07 PM */
export function twelveHours({ clock }: Parts): string {
  const hour = Number(clock.slice(0, 2));
  return `${hour % 12 || 12}${clock.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`;
}

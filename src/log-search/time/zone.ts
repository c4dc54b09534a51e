// Converts between the wall-clock time of a zone and instants. Used for `--date` and for log lines without an offset.
// Caches the offsets from Intl, because a search needs the same hours repeatedly. Not shared between threads.
import { CardpollError } from '../../platform/errors.ts';

/** The instants that a time in a log may mean. */
export interface LineInstants {
  readonly ms: number;
  /** The second one, if it is a wall-clock time that occurs twice because clocks go back; otherwise null. */
  readonly againMs: number | null;
  /** The name of its zone is ambiguous; one of its meanings is the search's zone. */
  readonly isAmbiguous?: true;
  /** The time belongs to the record that the line continues. */
  readonly isContinued?: true;
}

const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

export class Zone {
  readonly #name: string | null;
  readonly #offsetAt: (epochMs: number) => number;

  /**
   * @param name IANA name, or a fixed offset such as `+08:00`; null: the process's zone.
   * @throws CardpollError `usage` / `bad_zone`.
   */
  constructor(name: string | null) {
    this.#name = name;
    // Only named zones need Intl; its first use costs as much as searching 20 MB.
    this.#offsetAt = name === null ? processOffsetAt : (fixedOffsetAt(name) ?? namedOffsetAt(name));
  }

  get name(): string {
    return this.#name ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? this.#offsets();
  }

  /** Offset from UTC in milliseconds at an instant; east is positive. */
  offsetAt(epochMs: number): number {
    return this.#offsetAt(epochMs);
  }

  /** Like the first of instantsOf, but a time that never occurs means the change of the clocks. */
  firstAt(wallMs: number): number {
    const { ms } = this.instantsOf(wallMs);
    const offset = this.offsetAt(ms);
    if (ms + offset === wallMs) return ms;
    let [before, after] = [wallMs - offset, ms];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.offsetAt(middle) === offset) after = middle;
      else before = middle;
    }
    return after;
  }

  /** Like firstAt, but a time that occurs twice means the second occurrence. */
  lastAt(wallMs: number): number {
    return this.instantsOf(wallMs).againMs ?? this.firstAt(wallMs);
  }

  /**
   * The instants of a wall-clock time, given as if it were UTC: two for a time that occurs twice (clocks go back). One that never
   * occurs (clocks go forward) uses the offset before the change.
   */
  instantsOf(wallMs: number): LineInstants {
    const before = this.offsetAt(wallMs - DAY_MS);
    const after = this.offsetAt(wallMs + DAY_MS);
    const first = wallMs - before;
    if (before === after) return { ms: first, againMs: null };
    const second = wallMs - after;
    const isSecond = this.offsetAt(second) === after;
    if (this.offsetAt(first) !== before) return { ms: isSecond ? second : first, againMs: null };
    return { ms: first, againMs: isSecond && second > first ? second : null };
  }

  /**
   * No wall-clock time that means an instant up to this one, by its first occurrence, can mean a later one than this. Most
   * instants are returned unchanged; one whose wall-clock time occurs twice is moved forward by the change of the clocks.
   */
  latest(epochMs: number): number {
    const { ms, againMs } = this.instantsOf(epochMs + this.offsetAt(epochMs));
    return againMs === null ? epochMs : epochMs + againMs - ms;
  }

  /** Midnight to midnight of a day; null when there is no such day. */
  dayOf(year: number, month: number, day: number): { fromMs: number; toMs: number } | null {
    const start = new Date(Date.UTC(year, month - 1, day));
    if (start.getUTCMonth() !== month - 1 || start.getUTCDate() !== day) return null;
    return this.#dayFrom(start.getTime());
  }

  /** The day of an instant. */
  dayAt(epochMs: number): { fromMs: number; toMs: number } {
    return this.#dayFrom(Math.floor((epochMs + this.offsetAt(epochMs)) / DAY_MS) * DAY_MS);
  }

  #dayFrom(wallMs: number) {
    return { fromMs: this.instantsOf(wallMs).ms, toMs: this.instantsOf(wallMs + DAY_MS).ms };
  }

  /** Intl has no name for zones that POSIX allows in TZ, such as EST5: they are named by their offsets in winter and summer. */
  #offsets(): string {
    const [january, july] = [0, 6].map((month) => this.format(Date.UTC(2026, month)).slice(-'+00:00'.length));
    return `local ${january}/${july}`;
  }

  /** RFC 3339 with the zone's offset, milliseconds only where there are some. */
  format(epochMs: number): string {
    const offsetMs = this.offsetAt(epochMs);
    const wall = new Date(epochMs + offsetMs).toISOString().slice(0, 23).replace('.000', '');
    const minutes = Math.abs(Math.trunc(offsetMs / 60_000));
    const two = (value: number) => String(value).padStart(2, '0');
    return `${wall}${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  }
}

const zones = new Map<string | null, Zone>();

/** Zones are cached by name, for many files. @throws CardpollError like the constructor. */
export function zoneNamed(name: string | null): Zone {
  const zone = zones.get(name) ?? new Zone(name);
  zones.set(name, zone);
  return zone;
}

function processOffsetAt(epochMs: number): number {
  return -new Date(epochMs).getTimezoneOffset() * 60_000;
}

function fixedOffsetAt(name: string): (() => number) | null {
  const isFixed = /^(z|utc|gmt|[+-]\d\d:?\d\d)$/i.test(name);
  const offset = offsetMs(name);
  return isFixed ? () => offset : null;
}

/** Milliseconds of an offset such as `+08:00`, `-0330` or `+08`; 0 for `Z`. */
export function offsetMs(text: string): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):?(\d\d)?:?(\d\d)?/.exec(text) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === '-' ? -ms : ms;
}

function namedOffsetAt(name: string): (epochMs: number) => number {
  const format = formatOf(name);
  const offsets = new Map<number, number>();
  return (epochMs) => {
    const quarter = Math.floor(epochMs / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      const parts = format.formatToParts(quarter * QUARTER_MS);
      offset = offsetMs(parts.find(({ type }) => type === 'timeZoneName')?.value ?? '');
      offsets.set(quarter, offset);
    }
    return offset;
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch (error) {
    throw new CardpollError('usage', 'bad_zone', `'${timeZone}' is not a time zone`, {
      hint: 'type --tz Asia/Shanghai, --tz UTC or --tz +08:00',
      cause: error,
    });
  }
}

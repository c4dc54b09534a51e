// Every way to write a time that is read in logs, one row each. timestamps.ts reads by this table; docs/log-search.md and
// the tests show its examples. Patterns see the bytes of a line as latin1, so Chinese is spelled in bytes, UTF-8 or GBK.

interface TimeFormat {
  readonly name: string;
  readonly begins: RegExp;
  /** A regular expression with the pieces of PIECES in braces. Of two that begin at the same character, the first counts. */
  readonly pattern: string;
  /** Lines, and the instant of each in Asia/Shanghai, in the file `app-2026-11-12.log`. */
  readonly examples: ReadonlyArray<readonly [line: string, instant: string]>;
}

const AT = '2026-11-10T01:00:00.000Z';
const AT_MS = '2026-11-10T01:00:00.123Z';

const YEAR_CN = '(?:\xe5\xb9\xb4|\xc4\xea)';
const MONTH_CN = '(?:\xe6\x9c\x88|\xd4\xc2)';
const DAY_CN = '(?:\xe6\x97\xa5|\xc8\xd5)';
const HOUR_CN = '(?:\xe6\x97\xb6|\xe7\x82\xb9|\xca\xb1|\xb5\xe3)';
const MINUTE_CN = '(?:\xe5\x88\x86|\xb7\xd6)';
const SECOND_CN = '(?:\xe7\xa7\x92|\xc3\xeb)';

export const TIME_FORMATS: readonly TimeFormat[] = [
  {
    name: 'of runit (`svlogd -tt`): in UTC, without saying so',
    begins: /\d/,
    pattern: '{YYYY}-{MM}-{DD}_{hh}:{mm}:{ss}\\.{fffff}{utc}(?!\\d)',
    examples: [['2026-11-10_01:00:00.12345 x', AT_MS]],
  },
  {
    name: 'year, month, day: RFC 3339 and its relatives',
    begins: /\d/,
    pattern: '{Y}[-/.]{M}[-/.]{D}(?:[Tt]|[ _\\t-]{1,2}){clock}{zone}',
    examples: [
      ['2026-11-10T01:00:00.123456789Z x', AT_MS],
      ['2026-11-10 09:00:00,123 +0800 x', AT_MS],
      ['[INFO] 2026/11/10 09:00:00 x', AT],
      ['2026.11.10 9:00 x', AT],
      ['2026-11-10 01:00:00.123 UTC [41] LOG: x', AT_MS],
      ['2026-11-10 下午5:00:00 x', '2026-11-10T09:00:00.000Z'],
    ],
  },
  {
    name: 'Chinese date',
    begins: /\d/,
    pattern: `{Y}${YEAR_CN}{M}${MONTH_CN}{D}${DAY_CN}[ T]{0,2}{clock}{zone}`,
    examples: [['2026年11月10日 09:00:00 x', AT]],
  },
  {
    name: 'Chinese date and time of day',
    begins: /\d/,
    pattern: `{Y}${YEAR_CN}{M}${MONTH_CN}{D}${DAY_CN} ?{h}${HOUR_CN}{m}${MINUTE_CN}(?:{s}${SECOND_CN})?`,
    examples: [['2026年11月10日9时0分0秒 x', AT]],
  },
  {
    name: 'digits without separators',
    begins: /\d/,
    pattern: '{YYYY}{MM}{DD}[T _-]?{hh}:?{mm}:?{ss}(?:[.,]{f}|{fff})?{zone}(?!\\d)',
    examples: [
      ['20261110T010000Z x', AT],
      ['20261110 090000 x', AT],
      ['I20261110 09:00:00.123456 1 x.cc:9] x', AT_MS],
      ['20261110090000123 x', AT_MS],
    ],
  },
  {
    name: 'day, name of the month, year: nginx, Tomcat, RFC 1123, PHP, Redis',
    begins: /\d/,
    pattern: '{D}[-/ ]{Mon}(?:[-/ ]{Y}|-{YY})[: T]{1,2}{clock}{zone}',
    examples: [
      ['10.0.0.9 - - [10/Nov/2026:09:00:00 +0800] "GET /x"', AT],
      ['10-Nov-2026 09:00:00.123 INFO [main] x', AT_MS],
      ['Tue, 10 Nov 2026 01:00:00 GMT x', AT],
      ['[10-Nov-2026 02:00:00 Europe/Berlin] PHP Warning: x', AT],
      ['7:M 10 Nov 2026 09:00:00.123 * x', AT_MS],
    ],
  },
  {
    name: 'name of the month, day, time, year: asctime, date, Apache',
    begins: /[JFMASOND]/,
    pattern: '{Mon} {1,2}{D} {clock}{zone} {Y}',
    examples: [
      ['Tue Nov 10 09:00:00 CST 2026 x', AT],
      ['[Tue Nov 10 09:00:00.123456 2026] [core:error] x', AT_MS],
    ],
  },
  {
    name: 'name of the month, day, year: java.util.logging',
    begins: /[JFMASOND]/,
    pattern: '{Mon} {1,2}{D},? {Y},?(?: at)? {clock}{zone}',
    examples: [['Nov 10, 2026 9:00:00 AM com.example.Poller poll', AT]],
  },
  {
    name: 'without a year: syslog',
    begins: /[JFMASOND]/,
    pattern: '{Mon} {1,2}{D} {clock}{zone}',
    examples: [
      ['Nov 10 09:00:00 host1 cardpoll[8]: x', AT],
      ['<34>Nov  1 09:00:00 host1 x', '2026-11-01T01:00:00.000Z'],
    ],
  },
  {
    name: 'without a year: klog',
    begins: /[IWEF]/,
    pattern: '(?<![^\\s\\[>])[IWEF]{MM}{DD} {clock}',
    examples: [['I1110 09:00:00.123456       1 poll.go:12] x', AT_MS]],
  },
  {
    name: 'two numbers for day and month, and the year',
    begins: /\d/,
    pattern: '(?<![/.-]){a}[/.-]{b}[/.-]{Y}[ ,T]{1,2}{clock}{zone}',
    examples: [
      ['13/11/2026 09:00:00 x', '2026-11-13T01:00:00.000Z'],
      ['11/13/2026 9:00:00 AM x', '2026-11-13T01:00:00.000Z'],
      ['13.11.2026, 09:00:00 x', '2026-11-13T01:00:00.000Z'],
    ],
  },
  {
    name: 'two digits for the year, too: Spark, IBM',
    begins: /\d/,
    pattern: '(?<![/.-]){aa}[/.-]{bb}[/.-]{cc}[ ,T]{1,2}{clock}{zone}',
    examples: [
      ['26/11/10 09:00:00 INFO x', AT],
      ['[13/11/26 9:00:00:123 CST] 00000041 x', '2026-11-13T01:00:00.123Z'],
    ],
  },
  {
    name: 'two numbers for day and month: Android',
    begins: /\d/,
    pattern: '(?<![/.-]){aa}[/-]{bb} {Clock}',
    examples: [['10-13 09:00:00.123  41  41 I x', '2026-10-13T01:00:00.123Z']],
  },
  {
    name: 'epoch in s, ms, us or ns, at the start',
    begins: /\d/,
    pattern: '(?<=^[\\[("]?){epoch}(?![\\w.]|-\\d)',
    examples: [
      ['1794272400.123    45 10.0.0.9 TCP_MISS/200 x', AT_MS],
      ['[1794272400123] x', AT_MS],
    ],
  },
  {
    name: 'TAI64N',
    begins: /@/,
    pattern: '@4000000{tai}(?![\\da-f])',
    examples: [['@400000006af26c9a00000000 x', AT]],
  },
  {
    name: 'time of day, at the start or after a level',
    begins: /\d/,
    pattern: '(?<=^[\\[(]?|^[A-Z]{3,8}:? {1,3}\\[?){Clock}(?![:\\d])',
    examples: [
      ['09:00:00.123 [p] INFO x', '2026-11-12T01:00:00.123Z'],
      ['[09:00:00 INF] x', '2026-11-12T01:00:00.000Z'],
    ],
  },
];

/**
 * What zones are called, and the hours from UTC that the name may mean. With one meaning it is read so; with more the time is
 * one of `--tz`.
 */
export const ZONE_NAMES: Readonly<Record<string, readonly number[]>> = {
  ...{ UTC: [0], GMT: [0], WET: [0], WEST: [1], CET: [1], CEST: [2], EET: [2], EEST: [3], MSK: [3] },
  ...{ HKT: [8], SGT: [8], JST: [9], KST: [9], AEST: [10], AEDT: [11], NZST: [12], NZDT: [13] },
  ...{ CST: [8, -6, -5], CDT: [-5, -4, 9], EST: [-5, 10], EDT: [-4, 11], MST: [-7, 8], MDT: [-6] },
  ...{ PST: [-8, 8], PDT: [-7], IST: [5.5, 2, 1], BST: [1, 6], AST: [-4, 3], ADT: [-3, 4], GST: [4, -2] },
};

export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH_ENDINGS = 'uary ruary ch il  e y ust t(?:ember)? ober ember ember'.split(' ');
const MONTH_NAMES = MONTHS.map((name, nth) => `${name}(?:${MONTH_ENDINGS[nth]})?|${name.toUpperCase()}`).join(
  '|',
);

const AFTERNOON = '\xe4\xb8\x8b\xe5\x8d\x88|\xcf\xc2\xce\xe7';
const HALF_CN = `\xe4\xb8\x8a\xe5\x8d\x88|\xc9\xcf\xce\xe7|${AFTERNOON}`;
/** Newer versions of Java put a narrow blank before AM. */
const HALF_AFTER = `(?:(?: |\xe2\x80\xaf)?([AaPp])\\.?[Mm]\\b|(?: )(${HALF_CN}))?`;
const NAMED = Object.keys(ZONE_NAMES).join('|');
const OFFSET = '[+-](?:0\\d|1[0-4])(?::?(?:00|15|30|45))?';
const ZONE = `([Zz](?!\\w)|${OFFSET}(?![\\d:])| [+-](?:0\\d|1[0-4]):?(?:00|15|30|45)(?!\\d)| ?[\\[(]?(?:(?:UTC|GMT)[+-]\\d{1,2}(?::?\\d\\d)?|${NAMED})(?!\\w)| [A-Z][A-Za-z]+/[A-Z][A-Za-z_/]+(?!\\w))?`;
const SECONDS = '(\\d\\d)(?:[.,](\\d{1,9})|:(\\d{3})(?!\\d))?';
const CLOCK_FIELDS = ['half', 'hour', 'minute', 'second', 'fraction', 'fraction', 'half', 'half'] as const;

type TimeField =
  | 'year'
  | 'monthName'
  | 'month'
  | 'day'
  | 'one'
  | 'other'
  | 'third'
  | 'utc'
  | 'zone'
  | 'epoch'
  | 'tai'
  | (typeof CLOCK_FIELDS)[number];

/** Parts of the patterns: a regular expression, and the field of each of its groups. */
const PIECES: Readonly<Record<string, readonly [pattern: string, ...fields: TimeField[]]>> = {
  Y: ['(\\d{4})', 'year'],
  YY: ['(\\d\\d)', 'year'],
  M: ['(\\d{1,2})', 'month'],
  YYYY: ['((?:19|20)\\d\\d)', 'year'],
  MM: ['(0[1-9]|1[0-2])', 'month'],
  Mon: [`(?<![A-Za-z])(${MONTH_NAMES})`, 'monthName'],
  D: ['(\\d{1,2})', 'day'],
  DD: ['(0[1-9]|[12]\\d|3[01])', 'day'],
  a: ['(\\d{1,2})', 'one'],
  b: ['(\\d{1,2})', 'other'],
  aa: ['(\\d\\d)', 'one'],
  bb: ['(\\d\\d)', 'other'],
  cc: ['(\\d\\d)', 'third'],
  h: ['(\\d{1,2})', 'hour'],
  m: ['(\\d{1,2})', 'minute'],
  s: ['(\\d{1,2})', 'second'],
  hh: ['([01]\\d|2[0-3])', 'hour'],
  mm: ['([0-5]\\d)', 'minute'],
  ss: ['([0-5]\\d|60)', 'second'],
  f: ['(\\d{1,9})', 'fraction'],
  fff: ['(\\d{3})', 'fraction'],
  fffff: ['(\\d{5})', 'fraction'],
  utc: ['()', 'utc'],
  clock: [`(?:(${HALF_CN}) ?)?(\\d{1,2}):(\\d\\d)(?::${SECONDS})?(?!\\d|:\\d)${HALF_AFTER}`, ...CLOCK_FIELDS],
  Clock: [`(?:(${HALF_CN}) ?)?(\\d\\d):(\\d\\d):${SECONDS}${HALF_AFTER}`, ...CLOCK_FIELDS],
  zone: [ZONE, 'zone'],
  epoch: ['(\\d{10}(?:\\.\\d{1,9})?|\\d{13}(?:\\.\\d{1,6})?|\\d{16}|\\d{19})', 'epoch'],
  tai: ['([\\da-f]{17})', 'tai'],
};

export function isAfternoon(half: string): boolean {
  return /^[Pp]$/.test(half) || new RegExp(`^(?:${AFTERNOON})$`).test(half);
}

export type TimeFields = Readonly<Partial<Record<TimeField, string>>>;

/** Reads by one row. Its regular expression is made at its first use: most searches meet one form. */
class FormatReader {
  #pattern: RegExp | undefined;
  readonly #fields: TimeField[] = [];

  constructor(readonly format: TimeFormat) {}

  /** What is written at this position; undefined: not this form. */
  fieldsAt(text: string, at: number): TimeFields | undefined {
    this.#pattern ??= this.#compile();
    this.#pattern.lastIndex = at;
    const match = this.#pattern.exec(text);
    if (match === null) return undefined;
    const fields: Partial<Record<TimeField, string>> = {};
    this.#fields.forEach((field, nth) => {
      const value = match[nth + 1];
      if (value !== undefined) fields[field] = value;
    });
    return fields;
  }

  #compile(): RegExp {
    const source = this.format.pattern.replace(/\{([A-Za-z]+)\}/g, (_, name: string) => {
      const [piece = '', ...fields] = PIECES[name] ?? [];
      this.#fields.push(...fields);
      return piece;
    });
    return new RegExp(`(?<!\\d)(?:${source})`, 'y');
  }
}

const READERS = TIME_FORMATS.map((format) => new FormatReader(format));
const readers = new Map<string, readonly FormatReader[]>();

/** The rows whose times may begin with this character, in their order. */
export function readersFor(first: string): readonly FormatReader[] {
  let found = readers.get(first);
  if (found === undefined) {
    found = READERS.filter(({ format }) => format.begins.test(first));
    readers.set(first, found);
  }
  return found;
}

// Every form of a time in logs that is read, one row each, and what may follow a time. time-reader.ts reads by this table;
// docs/log-search.md has an example of each. Patterns see the bytes of a line as latin1, so Chinese is spelled in bytes, UTF-8 or
// GBK. A form without the year or the day is not in the table: its times would be guesses.

interface TimeFormat {
  readonly name: string;
  readonly begins: RegExp;
  readonly pattern: RegExp;
}

export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH_ENDINGS = 'uary ruary ch il  e y ust t(?:ember)? ober ember ember'.split(' ');
const MONTH_NAMES = MONTHS.map((name, nth) => `${name}(?:${MONTH_ENDINGS[nth]})?|${name.toUpperCase()}`);
const MON = `(?<![A-Za-z])(?<name>${MONTH_NAMES.join('|')})`;
const Y = '(?<year>\\d{4})';
const M = '(?<month>\\d{1,2})';
const D = '(?<day>\\d{1,2})';

const YEAR_CN = '(?:\xe5\xb9\xb4|\xc4\xea)';
const MONTH_CN = '(?:\xe6\x9c\x88|\xd4\xc2)';
const DAY_CN = '(?:\xe6\x97\xa5|\xc8\xd5)';
const AFTERNOON = '\xe4\xb8\x8b\xe5\x8d\x88|\xcf\xc2\xce\xe7';
const HALF_CN = `\xe4\xb8\x8a\xe5\x8d\x88|\xc9\xcf\xce\xe7|${AFTERNOON}`;
/** Languages and newer versions of Java put a non-breaking blank, or a narrow one, before AM. */
const BLANK = '(?: |\xc2\xa0|\xe2\x80\xaf)';
const HALF = `(?:${BLANK}?(?<half>[AaPp]\\.?${BLANK}?[Mm](?![A-Za-z])\\.?| ?(?:${HALF_CN})))?`;
const FRACTION = '(?:[.,](?<fraction>\\d{1,9})|:(?<millis>\\d{3})(?!\\d))?';
const CLOCK = `(?:(?<before>${HALF_CN}) ?)?(?<hour>\\d{1,2}):(?<minute>\\d\\d)(?::(?<second>\\d\\d)${FRACTION})?(?!\\d|:\\d)${HALF}`;

const row = (pattern: string) => new RegExp(`(?<!\\d)(?:${pattern})`, 'y');

export const TIME_FORMATS: readonly TimeFormat[] = [
  {
    name: 'year, month, day: RFC 3339 and its relatives',
    begins: /\d/,
    pattern: row(`${Y}[-/.]${M}[-/.]${D}(?:[Tt]|[ \\t-]{1,2})${CLOCK}`),
  },
  {
    name: 'Chinese date',
    begins: /\d/,
    pattern: row(`${Y}${YEAR_CN}${M}${MONTH_CN}${D}${DAY_CN}[ T]{0,2}${CLOCK}`),
  },
  {
    name: 'digits without separators',
    begins: /2/,
    pattern: row(
      '(?<year>20\\d\\d)(?<month>0[1-9]|1[0-2])(?<day>0[1-9]|[12]\\d|3[01])[T _-]?(?<hour>[01]\\d|2[0-3]):?(?<minute>[0-5]\\d):?(?<second>[0-5]\\d|60)(?:[.,](?<fraction>\\d{1,9})|(?<millis>\\d{3}))?(?!\\d)',
    ),
  },
  {
    name: 'day, name of the month, year: nginx, Tomcat, RFC 1123, PHP, Redis',
    begins: /\d/,
    pattern: row(`${D}[-/ ]${MON}[-/ ]${Y}[: T]{1,2}${CLOCK}`),
  },
  {
    name: 'name of the month, day, time, year: asctime, date, Apache',
    begins: /[JFMASOND]/,
    pattern: row(`${MON}\\.? {1,2}${D} ${CLOCK}(?: (?<zone>[A-Za-z+-][\\w:+]{1,8}))? ${Y}(?!\\d)`),
  },
  {
    name: 'name of the month, day, year: java.util.logging',
    begins: /[JFMASOND]/,
    pattern: row(`${MON} {1,2}${D},? ${Y},?(?: at)? ${CLOCK}`),
  },
  {
    name: 'year, name of the month, day: switches',
    begins: /\d/,
    pattern: row(`${Y} ${MON} {1,2}${D} ${CLOCK}`),
  },
  {
    name: 'epoch in seconds with a fraction, at the start: Squid, Zeek',
    begins: /\d/,
    pattern: row('(?<=^\\[?)(?<epoch>\\d{10}\\.\\d{1,9})(?![\\w.]|-\\d)'),
  },
];

const formats = new Map<string, readonly TimeFormat[]>();

/** The rows whose times may begin with this character, in their order. */
export function formatsFor(first: string): readonly TimeFormat[] {
  let found = formats.get(first);
  if (found === undefined) {
    found = TIME_FORMATS.filter(({ begins }) => begins.test(first));
    formats.set(first, found);
  }
  return found;
}

const PM = new RegExp(`^(?: ?[Pp]|(?: ?${AFTERNOON})$)`);

export function isAfternoon(half: string): boolean {
  return PM.test(half);
}

/** Names of zones, and the hours from UTC that the name may mean. */
const ZONE_NAMES: Readonly<Record<string, readonly number[]>> = {
  ...{ Z: [0], ZULU: [0], UTC: [0], GMT: [0], WET: [0], WEST: [1], CET: [1], CEST: [2], EET: [2], EEST: [3] },
  ...{
    MSK: [3],
    WIB: [7],
    HKT: [8],
    SGT: [8],
    JST: [9],
    KST: [9],
    AEST: [10],
    AEDT: [11],
    NZST: [12],
    NZDT: [13],
  },
  ...{ CST: [8, -6, -5], CDT: [-5, -4, 9], EST: [-5, 10], EDT: [-4, 11], MST: [-7, 8], MDT: [-6] },
  ...{ PST: [-8, 8], PDT: [-7], IST: [5.5, 2, 1], BST: [1, 6], AST: [-4, 3], ADT: [-3, 4], GST: [4, -2] },
};

/** Words in capitals that follow times in logs and are not zones. Any other may be the name of a zone. */
const NO_ZONES = new Set(
  'LOG INFO WARN ERR ERROR DEBUG DBG TRACE FATAL CRIT ALERT EMERG NOTE AUDIT FINE FINER PANIC INF WRN FTL TRC VRB GET POST PUT HEAD PATCH TCP UDP HTTP HTTPS SIM IMSI ICCID APN SMS CALL POLL START STOP CARD DATA TASK JOB API APP SYS NET DNS SSL TLS DONE FAIL INIT'.split(
    ' ',
  ),
);

/** Some programs write the minus sign or a dash instead of the hyphen, and .NET an escape in JSON instead of the plus sign. */
const SIGN = '[+-]|\\\\u002[Bb]|\xe2\x88\x92|\xe2\x80[\x90-\x95]';
const OFFSET = new RegExp(
  `^ ?[[(]?(?:(UTC|GMT|utc|gmt) ?)?(${SIGN})(\\d{1,2})(?::?(\\d\\d))?(?![\\d:]|[.,]\\d)`,
);
const SIGNED = new RegExp(`^ ?(?:${SIGN})\\d`);
const IANA =
  /^ ?[[(]?((?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific)\/[\w/+-]+)/;
const WORD = /^( ?)([[(]?)([A-Za-z]{1,5})(?![A-Za-z\d_])/;
/** Half of a day in another language, or a zone in words: `p. m.`, `μ.μ.`, `(China Standard Time)`. */
const OTHER_WORDS = new RegExp(
  `^${BLANK}?(?:\xe5\x8d\x88\xe5|\xec\x98\xa4[\xec\xed]|[a-z\x80-\xff]{1,4}\\.(?: ?[a-z\x80-\xff]{1,2}\\.)?(?=[ ,;]|$)|(?:[\xcd-\xdf][\x80-\xbf]){1,4}(?=[. ]|$)|(?:\xe0[\x80-\xbf]{2}){1,6}|(?:CH|SA|PD|MD|[efvn]m)(?![A-Za-z])|\\(?(?:[A-Z][a-z]+ ){1,3}Time\\b)`,
);

/** Possible offsets in hours, or the name of a zone of the IANA database. */
export type WrittenZone = readonly number[] | string;

/** The zone after a time; null: none. `doubt`: the following text may belong to the time, and is not understood. */
export function zoneAfter(rest: string): WrittenZone | null | 'doubt' {
  const offset = OFFSET.exec(rest);
  if (offset !== null) return hoursOf(offset);
  if (SIGNED.test(rest)) return 'doubt';
  const iana = IANA.exec(rest)?.[1];
  if (iana !== undefined) return iana;
  const [, blank, bracket, word = ''] = WORD.exec(rest) ?? [];
  const hours = ZONE_NAMES[/^(?:z|utc|gmt|zulu)$/i.test(word) ? word.toUpperCase() : word];
  if (hours !== undefined) return hours;
  if (OTHER_WORDS.test(rest)) return 'doubt';
  const isAttached = blank === '' && bracket === '' && /[A-Z]/.test(word);
  const isCapitals = bracket !== '[' && /^(?:[A-Z]{3,5}|[A-Z][a-z]ST)$/.test(word) && !NO_ZONES.has(word);
  return isAttached || isCapitals ? 'doubt' : null;
}

function hoursOf([, name, sign, hours = '', minutes = '0']: RegExpExecArray): readonly number[] | 'doubt' {
  const isKnown = Number(hours) <= 14 && Number(minutes) % 15 === 0 && Number(minutes) < 60;
  if (!isKnown || (name === undefined && hours.length < 2)) return 'doubt';
  const value = Number(hours) + Number(minutes) / 60;
  return [/[+Bb]$/.test(sign ?? '') ? value : -value];
}

// What `cardpoll logs` must find, computed the slow and obvious way from the plain contents of the files: every line is
// split off, decoded and parsed. Written without looking at src/log-search; used by its property tests as the truth.

export interface ReferenceFile {
  readonly name: string;
  /** What the file holds, uncompressed. */
  readonly content: Buffer;
}

export interface ReferenceQuery {
  readonly card: string;
  readonly interface?: string | undefined;
  readonly strict?: boolean | undefined;
  /** YYYY-MM-DD */
  readonly date?: string | undefined;
  readonly zone: string;
}

export interface ReferenceHit {
  readonly file: string;
  readonly line: string;
}

export function referenceSearch(files: readonly ReferenceFile[], query: ReferenceQuery): ReferenceHit[] {
  return files.flatMap((file) => {
    const lines = splitLines(file.content);
    const times = timesOf(lines, file, query.zone);
    return lines.flatMap((line, index) => {
      const time = times[index];
      const fits =
        hasCard(line, query.card) &&
        (query.date === undefined || isOnDay(time, query.date, query.zone)) &&
        (query.interface === undefined || belongsTo(line, query.interface, query.strict ?? false));
      return fits ? [{ file: file.name, line: line.toString('latin1') }] : [];
    });
  });
}

function splitLines(content: Buffer): Buffer[] {
  const parts = content.toString('latin1').split('\n');
  if (parts.at(-1) === '') parts.pop();
  return parts.map((part) => Buffer.from(part.replace(/\r$/, ''), 'latin1'));
}

export function hasCard(line: Buffer, card: string): boolean {
  const runs = line.toString('latin1').match(/[0-9]+/g) ?? [];
  if (card.length <= 18) return runs.some((run) => run.includes(card));
  // A check digit more or less.
  const isCard = (run: string) =>
    run === card ||
    (card.length === 19 && run.length === 20 && run.startsWith(card)) ||
    (card.length === 20 && run.length === 19 && card.startsWith(run));
  return runs.some(isCard);
}

type LineTime = number | { readonly day: string | null };

/** Own time, else the line's before, else the first of the file, else the day in its name, else none. */
function timesOf(lines: readonly Buffer[], file: ReferenceFile, zone: string): LineTime[] {
  const own = lines.map((line) => ownTime(line.toString('latin1'), zone));
  const first = own.find((time) => time !== null);
  const inName = /(20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)/.exec(file.name);
  const day = inName === null ? null : `${inName[1]}-${inName[2]}-${inName[3]}`;
  let before: LineTime = first ?? { day };
  return own.map((time) => {
    before = time ?? before;
    return before;
  });
}

function isOnDay(time: LineTime | undefined, date: string, zone: string): boolean {
  if (time === undefined) return false;
  return (typeof time === 'number' ? dayOf(time, zone) : time.day) === date;
}

export function dayOf(epochMs: number, zone: string): string {
  return wallClock(epochMs, zone).slice(0, 10);
}

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** `YYYY-MM-DD HH:MM:SS` */
function wallClock(epochMs: number, timeZone: string): string {
  let format = FORMATS.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    FORMATS.set(timeZone, format);
  }
  return format.format(epochMs);
}

/** The first instant whose wall clock in the zone reads so. */
export function instantOf(wall: string, zone: string): number {
  const asUtc = Date.parse(`${wall.slice(0, 10)}T${wall.slice(11, 19)}Z`);
  for (let quarters = -56; quarters <= 56; quarters += 1) {
    const instant = asUtc + quarters * 900_000;
    if (wallClock(instant, zone) === wall.slice(0, 19)) return instant;
  }
  throw new Error(`${wall} does not exist in ${zone}`);
}

function ownTime(line: string, zone: string): number | null {
  const json = parseObject(line);
  if (json !== null) {
    for (const [key, value] of Object.entries(json)) {
      if (['time', 'ts', 'timestamp', '@timestamp'].includes(key)) return readValue(value, zone);
    }
  }
  return readText(line, zone);
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line.replace(/^\xef\xbb\xbf/, ''));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function readValue(value: unknown, zone: string): number | null {
  if (typeof value !== 'number') return readText(String(value), zone);
  if (value < 1e11) return Math.floor(value * 1000);
  if (value < 1e14) return value;
  return value < 1e17 ? Math.floor(value / 1e3) : Math.floor(value / 1e6);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function readText(text: string, zone: string): number | null {
  const nginx = /(\d\d)\/([A-Z][a-z][a-z])\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)/.exec(text);
  if (nginx !== null) {
    const [, day, month = '', year, clock, hours, minutes] = nginx;
    const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
    return Date.parse(`${year}-${number}-${day}T${clock}${hours}:${minutes}`);
  }
  const iso = /(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)([.,]\d+)?(Z|[+-]\d\d:?\d\d)?/.exec(text);
  if (iso === null) return null;
  const [, year, month, day, clock, fraction, offset] = iso;
  const ms = Number((fraction ?? '.0').slice(1, 4).padEnd(3, '0'));
  if (offset === undefined) return instantOf(`${year}-${month}-${day} ${clock}`, zone) + ms;
  return Date.parse(`${year}-${month}-${day}T${clock}${offset.replace(/(\d\d):?(\d\d)$/, '$1:$2')}`) + ms;
}

const TABLE: Record<string, { segment: (name: string) => boolean; field?: string; phrases: string[] }> = {
  realname: { segment: (name) => name.includes('realname'), field: 'realStatus', phrases: ['实名'] },
  flow: {
    segment: (name) => ['flow', 'cardflow', 'carddata', 'traffic'].includes(name),
    field: 'used',
    phrases: ['流量'],
  },
  card_status: {
    segment: (name) => ['status', 'cardstatus'].includes(name),
    field: 'cardStatus',
    phrases: ['卡状态'],
  },
  stop: { segment: (name) => ['stop', 'cardstop', 'suspend'].includes(name), phrases: ['停机', '停卡'] },
  start: { segment: (name) => ['start', 'cardstart', 'resume'].includes(name), phrases: ['复机', '恢复'] },
};

export function belongsTo(line: Buffer, alias: string, strict: boolean): boolean {
  const rule = TABLE[{ carddata: 'flow', resume: 'start' }[alias] ?? alias];
  if (rule === undefined) throw new Error(alias);
  const texts = decodings(line);
  const bare = texts.map((text) => text.replace(/\\+[nrt]/g, ' ').replace(/\\/g, ''));
  const paths = bare.flatMap((text) => [
    ...[...text.matchAll(/"(?:path|url|uri)"\s*:\s*"([^"]*)"/g)].map((match) => match[1] ?? ''),
    ...[...text.matchAll(/\b(?:GET|POST) (\/[^ "]*)/g)].map((match) => match[1] ?? ''),
    ...pairsOf(text)
      .filter(([key]) => ['path', 'url', 'uri'].includes(key))
      .map(([, value]) => value),
  ]);
  if (paths.some((path) => segmentsOf(path).some(rule.segment))) return true;
  if (strict) return false;
  const { field } = rule;
  if (field !== undefined && bare.some((text) => new RegExp(`"${field}"\\s*:`).test(text))) return true;
  if (field !== undefined && bare.some((text) => pairsOf(text).some(([key]) => key === field))) return true;
  return rule.phrases.some((phrase) => texts.some((text) => text.includes(phrase)));
}

/** Of `key=value` text. */
function pairsOf(text: string): [key: string, value: string][] {
  const words = text.replace(/=["']/g, '=').split(/[\s"',;()[\]{}]+/);
  return words.flatMap((word): [string, string][] => {
    const at = word.indexOf('=');
    return at < 1 || word[at + 1] === '=' ? [] : [[word.slice(0, at), word.slice(at + 1)]];
  });
}

function segmentsOf(path: string): string[] {
  const [bare = ''] = path.replace(/^[a-z]+:\/\/[^/]*/i, '').split(/[?#]/, 1);
  return bare.split('/').map((segment) => segment.toLowerCase().replace(/[-_]/g, ''));
}

/** As UTF-8 or GBK, and with escapes resolved. */
function decodings(line: Buffer): string[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    text = new TextDecoder('gbk').decode(line);
  }
  const unescaped = text.replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return [text, unescaped];
}

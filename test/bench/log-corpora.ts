// `node test/bench/run.js log-corpora DIR [--binary bin/cardpoll.js] [--tz UTC]`: what share of foreign log files the search dates
// right. Puts a card behind each line of a copy of each text file in DIR that has a time by the rules here, which know nothing of
// src, and asks for the first, a middle and the last day. A file is right if all counts are, wrong if one is wrong without exit
// code 2, and undated otherwise. Lines without a year or a day have no right day: their files are right if the search says so with
// exit code 2, and guessed otherwise.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { dayOf, instantOf } from '../support/log-reference.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const execute = promisify(execFile);
const CARD = '89860622330044556677';
const HEAD = 240;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH = `(?<name>${MONTHS.join('|')})[a-z]*\\.?`;
const CLOCK = '(?<clock>\\d\\d:\\d\\d(?::\\d\\d)?)(?:[.,]\\d+)?';
const ZONE = ' ?(?<zone>z\\b|utc|gmt|zulu|cest|cet|pdt|pst|edt|est|[+\\u2212-]\\d\\d:?\\d\\d)?';
const HOURS: Readonly<Record<string, number>> = { cest: 2, cet: 1, pdt: -7, pst: -8, edt: -4, est: -5 };

/** Forms with a year; the one that begins first in a line is its time. */
const FORMS = [
  `(?<year>\\d{4})[-/](?<month>\\d\\d)[-/](?<day>\\d\\d)(?:t| {1,2})${CLOCK}${ZONE}`,
  `(?<year>\\d{4})(?<month>\\d\\d)(?<day>\\d\\d)[t-](?<h>\\d\\d):?(?<m>\\d\\d):?(?<s>\\d\\d)(?:[.,]\\d+)?${ZONE}`,
  `(?<day>\\d\\d)[/ ]${MONTH}[/ ](?<year>\\d{4})[: ]${CLOCK}${ZONE}`,
  `${MONTH} +(?<day>\\d+) ${CLOCK}(?: (?<before>[a-z]{3,4}))? (?<year>\\d{4})${ZONE}`,
  `${MONTH} +(?<day>\\d+) (?<year>\\d{4}) ${CLOCK}${ZONE}`,
  `(?<year>\\d{4}) ${MONTH} +(?<day>\\d+) ${CLOCK}${ZONE}`,
  '(?:^|(?:"(?:ts|time|__realtime_timestamp)" ?: ?"?)|^\\d+ |^#\\+)(?<epoch>\\d{10})(?:\\d{3}|\\d{6})?(?:\\.\\d+)?\\b',
].map((form) => new RegExp(`(?<!\\d)(?:${form})`, 'i'));
/** Without a year or a day. */
const PARTIAL = new RegExp(`^.{0,60}?(?:${MONTH} +\\d+ ${CLOCK}|(?<![\\d:])\\d\\d:\\d\\d:\\d\\d)`, 'i');

/** Epoch milliseconds; `partial`: the day is not written; null: no time. */
function timeOf(line: string, zone: string): number | 'partial' | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are written with.
  const head = line.slice(0, HEAD).replace(/\x1b\[[\d;]*[mK]/g, '');
  const found = FORMS.map((form) => form.exec(head)).filter((match) => match !== null);
  const [first] = found.sort((a, b) => a.index - b.index);
  const partial = PARTIAL.exec(head);
  if (first?.groups === undefined) return partial === null ? null : 'partial';
  if (partial !== null && partial.index + partial[0].length < first.index) return 'partial';
  const { year, month, name = '', day = '', clock, h, m, s, before, zone: after, epoch } = first.groups;
  if (epoch !== undefined) return Number(epoch) * 1_000;
  const two = (value: number | string) => String(value).padStart(2, '0');
  const date = `${year}-${month ?? two(MONTHS.indexOf(name.toLowerCase().slice(0, 3)) + 1)}-${two(day)}`;
  const time = clock === undefined ? `${h}:${m}:${s}` : clock.padEnd(8, ':00');
  const written = (before ?? after)?.toLowerCase().replace('\u2212', '-');
  if (written === undefined) return instantOf(`${date} ${time}`, zone);
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)/.exec(written) ?? [];
  const offset =
    sign === undefined ? (HOURS[written] ?? 0) : Number(`${sign}${Number(hours) + Number(minutes) / 60}`);
  return Date.parse(`${date}T${time}Z`) - offset * 3_600_000;
}

type Verdict = 'right' | 'undated' | 'guessed' | 'wrong' | 'no times';

export async function run(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { binary: { type: 'string' }, tz: { type: 'string' } },
    allowPositionals: true,
  });
  const [corpus = '.'] = positionals;
  const { binary = 'bin/cardpoll.js', tz = 'UTC' } = values;
  const root = temporaryDirectory('log-corpora');
  const found: Partial<Record<Verdict, string[]>> = {};
  try {
    for (const name of readdirSync(corpus).sort()) {
      const path = join(corpus, name);
      if (!statSync(path).isFile()) continue;
      const verdict = await verdictOn(path, name, { root, binary, tz });
      found[verdict] = [...(found[verdict] ?? []), name];
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  const verdicts: Verdict[] = ['undated', 'guessed', 'wrong'];
  for (const verdict of verdicts) process.stdout.write(`${verdict}: ${(found[verdict] ?? []).join(' ')}\n`);
  const counts = Object.entries(found).map(([verdict, names]) => [verdict, names.length]);
  process.stdout.write(`${JSON.stringify({ bench: 'log-corpora', ...Object.fromEntries(counts) })}\n`);
}

interface Options {
  readonly root: string;
  readonly binary: string;
  readonly tz: string;
}

async function verdictOn(path: string, name: string, { root, binary, tz: zone }: Options): Promise<Verdict> {
  const counts = new Map<string, number>();
  let partial = 0;
  const lines = readFileSync(path, 'utf8').split('\n');
  const marked = lines.map((line) => {
    const time = timeOf(line, zone);
    if (time === null) return line;
    if (time === 'partial') partial += 1;
    else counts.set(dayOf(time, zone), (counts.get(dayOf(time, zone)) ?? 0) + 1);
    return `${line.replace(/\r$/, '')} ${CARD}`;
  });
  if (counts.size + partial === 0) return 'no times';
  const directory = join(root, String(Math.random()));
  mkdirSync(directory);
  writeFileSync(join(directory, name), marked.join('\n'));
  utimesSync(join(directory, name), Date.now() / 1_000, Date.now() / 1_000);
  const days = [...counts.keys()].sort();
  const asked = new Set([days[0], days[days.length >> 1], days.at(-1)].filter((day) => day !== undefined));
  if (partial > 0) asked.add(dayOf(Date.now(), zone));
  let verdict: Verdict = 'right';
  for (const day of asked) {
    const args = ['logs', '--roots', directory, '--iccid', CARD, '--count-only', '--tz', zone, '--date', day];
    const { code = 0, stdout } = await execute(process.execPath, [binary, ...args]).catch((error) => error);
    if (code === 2) verdict = verdict === 'right' && partial === 0 ? 'undated' : verdict;
    else if (partial > 0) return 'guessed';
    else if (Number(stdout) !== counts.get(day)) return 'wrong';
  }
  return verdict;
}

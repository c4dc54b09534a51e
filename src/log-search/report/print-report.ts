// Writes a report in the requested format: text for people, or JSON. Used by the command, which writes the pieces to standard
// output one by one, because the hits of `--all` may not fit in memory. Text has no colour and no width, because it is often
// piped.

import { byteWords, countWords, grouped } from '../../domain/words.ts';
import { type FoundLine, isIncomplete, type LogFormat, textOf } from '../model.ts';
import type { Report } from '../search.ts';
import type { Zone } from '../time/zone.ts';
import { isComplete, lineToJson, reportToJson } from './report.ts';

interface PrintOptions {
  readonly format: LogFormat;
  /** Every hit. */
  readonly all: boolean;
  /** The text goes to a terminal, which control characters in lines and names must not control. */
  readonly isShown: boolean;
}

export function* printReport(
  report: Report,
  { format, all, isShown }: PrintOptions,
): Generator<string | Buffer> {
  if (report.query.keep === 'count') yield `${report.hits}\n`;
  else if (format === 'text') yield* all ? hitLines(report, isShown) : [reportToText(report)];
  else if (format === 'jsonl') yield* jsonLines(report, all);
  else yield* wholeJson(report, all);
}

/** The text for standard error; null when standard output contains everything. */
export function printAside(report: Report, { format, all }: Omit<PrintOptions, 'isShown'>): string | null {
  if (report.query.keep === 'count') return report.notices.length === 0 ? null : summaryToText(report);
  return all && format === 'text' ? summaryToText(report) : null;
}

const NEWLINE = Buffer.from('\n');

/** The lines, each after its path, and then the traces. Outside a terminal they are the bytes of the files. */
function* hitLines(report: Report, isShown: boolean): Generator<string | Buffer> {
  for (const { path, line } of report.records())
    yield isShown
      ? `${harmless(`${path}:${textOf(line)}`)}\n`
      : Buffer.concat([Buffer.from(`${path}:`), line, NEWLINE]);
  if (report.traces !== null) yield traces(report, report.traces);
}

/** One object per hit (or sample), then the summary with `"type":"summary"`. */
function* jsonLines(report: Report, all: boolean): Generator<string> {
  for (const found of all ? report.records() : report.samples) {
    yield `${JSON.stringify({ type: 'hit', ...lineToJson(found, report.zone) })}\n`;
  }
  yield `${JSON.stringify({ type: 'summary', ...reportToJson(report) })}\n`;
}

function* wholeJson(report: Report, all: boolean): Generator<string> {
  const text = JSON.stringify(reportToJson(report), null, 2);
  if (!all) {
    yield `${text}\n`;
    return;
  }
  yield `${text.slice(0, -2)},\n  "records": [`;
  let separator = '\n';
  for (const found of report.records()) {
    yield `${separator}    ${JSON.stringify(lineToJson(found, report.zone))}`;
    separator = ',\n';
  }
  yield `${separator === '\n' ? '' : '\n  '}]\n}\n`;
}

const SHOWN_FILES = 50;
const SHOWN_NOTICES = 20;
const SHOWN_CHARACTERS = 1_000;

/** Summary, matching files, samples and traces; hits without a request id are in no trace. */
function reportToText(report: Report): string {
  const parts = [summaryToText(report), matchingFiles(report)];
  for (const samples of [report.samples, report.undatedSamples])
    parts.push(samples.map((sample) => sampleToText(sample, report.zone)).join(''));
  if (report.traces !== null) parts.push(traces(report, report.traces));
  return parts.filter((part) => part !== '').join('\n');
}

/** Also for standard error, when standard output has only a number or the hits. Ends with the notices, if there are any. */
function summaryToText(report: Report): string {
  const { query, files, bytes, zone } = report;
  const time = (ms: number) => (Number.isFinite(ms) ? zone.format(ms) : '…');
  const rows: [string, string][] = [
    ['card', query.card],
    [
      'interface',
      query.interface === null ? 'any' : `${query.interface}${query.strict ? ' (by path only)' : ''}`,
    ],
    [
      'window',
      query.window === null
        ? 'all times'
        : `${time(query.window.fromMs)} to ${time(query.window.toMs)} (${zone.name})`,
    ],
    ['hits', grouped(report.hits)],
  ];
  if (report.firstMs !== null && report.lastMs !== null) {
    rows.push(['first hit', time(report.firstMs)], ['last hit', time(report.lastMs)]);
  }
  const { undated, continued, ambiguous } = report;
  if (continued > 0) rows.push(['continued', `${continued} have the time of the record that they continue`]);
  if (undated > 0)
    rows.push([
      'undated',
      `${undated} without a readable time${query.window === null ? '' : ', not counted: without --date, --since and --until they are'}`,
    ]);
  if (ambiguous > 0)
    rows.push(['ambiguous', `${ambiguous} with a zone of several meanings, read in ${zone.name}`]);
  const counts = Object.entries(report.byInterface);
  if (counts.length > 0)
    rows.push(['by interface', counts.map(([name, count]) => `${name} ${count}`).join(', ')]);
  rows.push(
    [
      'files',
      `${files.considered} considered, ${files.pruned} pruned, ${files.searched} searched, ` +
        `${files.damaged} damaged, ${files.denied} denied`,
    ],
    ['bytes', `${byteWords(bytes.read)} read, ${byteWords(bytes.searched)} of log text searched`],
    ['time', `${(report.elapsedMs / 1000).toFixed(2)} s, ${countWords(report.threads, 'thread')}`],
    ['complete', isComplete(report) ? 'yes' : 'NO: something could not be read, see below'],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return `${[...lines, ...notices(report)].join('\n')}\n`;
}

function notices(report: Report): string[] {
  const sorted = [...report.notices].sort((a, b) => Number(isIncomplete(b)) - Number(isIncomplete(a)));
  const lines = sorted
    .slice(0, SHOWN_NOTICES)
    .map(({ path, code, detail }) => `${code.padEnd(16)}  ${harmless(`${path}: ${detail}`)}`);
  if (sorted.length > SHOWN_NOTICES) lines.push(`and ${sorted.length - SHOWN_NOTICES} more notices`);
  return lines.length === 0 ? [] : ['', ...lines];
}

function matchingFiles({ matching }: Report): string {
  if (matching.length === 0) return '';
  const shown = matching.slice(0, SHOWN_FILES);
  const width = Math.max(...shown.map(({ hits }) => String(hits).length));
  const lines = shown.map(({ path, hits }) => `${String(hits).padStart(width)}  ${harmless(path)}`);
  if (matching.length > SHOWN_FILES) lines.push(`and ${matching.length - SHOWN_FILES} more files`);
  return `${lines.join('\n')}\n`;
}

function sampleToText(sample: FoundLine, zone: Zone): string {
  const names = sample.interfaces.length === 0 ? '' : ` [${sample.interfaces.join(', ')}]`;
  return `${shownTime(sample.timeMs, zone)} ${harmless(sample.path)}${names}\n    ${shownLine(sample)}\n`;
}

function shownTime(timeMs: number, zone: Zone): string {
  return Number.isFinite(timeMs) ? zone.format(timeMs) : 'no readable time';
}

/** Lines and file names must neither control the terminal nor change the direction of the following text. */
function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (char) => (char === '\t' ? char : '\uFFFD'));
}

function shownLine({ line, cut }: FoundLine): string {
  const text = harmless(textOf(line));
  return text.length > SHOWN_CHARACTERS || cut ? `${text.slice(0, SHOWN_CHARACTERS)} …` : text;
}

function traces(report: Report, found: NonNullable<Report['traces']>): string {
  const groups = found.map(({ id, lines, truncated }) => {
    const texts = lines.map(
      (line) =>
        `  ${line.isHit ? '>' : ' '} ${shownTime(line.timeMs, report.zone)} ${harmless(line.path)}\n      ${shownLine(line)}\n`,
    );
    return `request ${id}\n${texts.join('')}${truncated ? '    and more lines\n' : ''}`;
  });
  if (report.tracesTruncated) groups.push('and more requests: narrow the search with --since and --until\n');
  return groups.length === 0 ? 'no request or trace id in the hits\n' : groups.join('\n');
}

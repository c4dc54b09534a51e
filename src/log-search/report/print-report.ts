// Writes a report in the requested format, piece by piece, because the hits of `--all` may not fit in memory. Used by the
// command, which writes the pieces to standard output.

import type { LogFormat } from '../model/query.ts';
import { Zone } from '../time/zone.ts';
import { lineToJson, type Report, reportToJson } from './report.ts';
import { reportToText, summaryToText } from './report-text.ts';

interface PrintOptions {
  readonly format: LogFormat;
  /** Only the number of hits. */
  readonly countOnly: boolean;
  /** Every hit. */
  readonly all: boolean;
}

export function* printReport(
  report: Report,
  { format, countOnly, all }: PrintOptions,
): Generator<string | Buffer> {
  if (countOnly) yield `${report.hits}\n`;
  else if (format === 'text') yield* all ? hitLines(report) : [reportToText(report)];
  else if (format === 'jsonl') yield* jsonLines(report, all);
  else yield* wholeJson(report, all);
}

/** The text for standard error; null when standard output has everything. */
export function printAside(report: Report, { format, countOnly, all }: PrintOptions): string | null {
  if (countOnly) return report.notices.length === 0 ? null : summaryToText(report);
  return all && format === 'text' ? summaryToText(report) : null;
}

const NEWLINE = Buffer.from('\n');

/** The lines as in the files, each after its path. */
function* hitLines(report: Report): Generator<Buffer> {
  for (const { path, line } of report.records())
    yield Buffer.concat([Buffer.from(`${path}:`), line, NEWLINE]);
}

/** One object per hit (or sample), then the summary with `"type":"summary"`. */
function* jsonLines(report: Report, all: boolean): Generator<string> {
  const zone = new Zone(report.query.zone);
  for (const found of all ? report.records() : report.samples) {
    yield `${JSON.stringify({ type: 'hit', ...lineToJson(found, zone) })}\n`;
  }
  yield `${JSON.stringify({ type: 'summary', ...reportToJson(report) })}\n`;
}

function* wholeJson(report: Report, all: boolean): Generator<string> {
  const text = JSON.stringify(reportToJson(report), null, 2);
  if (!all) {
    yield `${text}\n`;
    return;
  }
  const zone = new Zone(report.query.zone);
  yield `${text.slice(0, -2)},\n  "records": [`;
  let separator = '\n';
  for (const found of report.records()) {
    yield `${separator}    ${JSON.stringify(lineToJson(found, zone))}`;
    separator = ',\n';
  }
  yield `${separator === '\n' ? '' : '\n  '}]\n}\n`;
}

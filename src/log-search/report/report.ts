// The exit code and the JSON of a report. print-report.ts prints it. JSON is snake_case; instants are RFC 3339 in the
// search's zone.

import { snakeKeys } from '../../platform/snake-keys.ts';
import { type FoundLine, isIncomplete, textOf } from '../model.ts';
import type { Report } from '../search.ts';
import type { Zone } from '../time/zone.ts';

export function isComplete(report: Report): boolean {
  return !report.notices.some(isIncomplete);
}

/** 0 hits and complete, 1 no hit and complete, 2 incomplete. */
export function exitCodeOf(report: Report): 0 | 1 | 2 {
  if (!isComplete(report)) return 2;
  return report.hits > 0 ? 0 : 1;
}

/** The report as one JSON object, without the records. */
export function reportToJson(report: Report): Record<string, unknown> {
  const { query, files, bytes, zone } = report;
  const time = (ms: number | null) => (ms === null || !Number.isFinite(ms) ? null : zone.format(ms));
  return {
    iccid: query.card,
    interface: query.interface,
    strict: query.strict,
    zone: zone.name,
    window: query.window === null ? null : { from: time(query.window.fromMs), to: time(query.window.toMs) },
    roots: report.roots,
    complete: isComplete(report),
    hits: report.hits,
    dated: report.dated,
    continued: report.continued,
    undated: report.undated,
    ambiguous: report.ambiguous,
    first_hit: time(report.firstMs),
    last_hit: time(report.lastMs),
    hits_by_interface: report.byInterface,
    files: snakeKeys(files),
    bytes,
    matching_files: report.matching.map(({ path, hits, firstMs, lastMs }) => ({
      ...{ path, hits, first_hit: time(firstMs), last_hit: time(lastMs) },
    })),
    pruned_files: report.prunedFiles,
    samples: report.samples.map((sample) => lineToJson(sample, zone)),
    undated_samples: report.undatedSamples.map((sample) => lineToJson(sample, zone)),
    notices: report.notices,
    ...(report.traces === null
      ? {}
      : { traces: tracesToJson(report.traces, zone), traces_truncated: report.tracesTruncated }),
    threads: report.threads,
    elapsed_ms: Math.round(report.elapsedMs),
  };
}

function tracesToJson(traces: NonNullable<Report['traces']>, zone: Zone) {
  return traces.map(({ id, lines, truncated }) => ({
    ...{ id, truncated },
    lines: lines.map((line) => ({ ...lineToJson(line, zone), is_hit: line.isHit })),
  }));
}

export function lineToJson({ path, timeMs, interfaces, line, cut }: FoundLine, zone: Zone) {
  return {
    path,
    time: Number.isFinite(timeMs) ? zone.format(timeMs) : null,
    interfaces,
    line: textOf(line),
    cut,
  };
}

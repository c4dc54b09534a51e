// The result of a search: the Report, its exit code and its JSON. search.ts fills it, print-report.ts prints it. JSON is
// snake_case; instants are RFC 3339 in the search's zone.

import { snakeKeys } from '../../platform/snake-keys.ts';
import type { FileHits, InterfaceCounts } from '../hits/find-hits.ts';
import type { Query } from '../model.ts';
import { type Hit, isIncomplete, type Notice, textOf } from '../model.ts';
import type { PrunedFile } from '../plan/plan.ts';
import { Zone } from '../time/zone.ts';

interface MatchingFile extends Pick<FileHits, 'firstMs' | 'lastMs'> {
  readonly path: string;
  readonly hits: number;
}

export interface Trace {
  readonly id: string;
  /** In time order; `isHit`: the line carries the card. */
  readonly lines: readonly (FoundLine & { readonly isHit: boolean })[];
  /** There were more lines than are kept. */
  readonly truncated: boolean;
}

export interface FoundLine extends Pick<Hit, 'timeMs' | 'interfaces' | 'line' | 'cut'> {
  readonly path: string;
}

export interface Report {
  readonly query: Query;
  readonly roots: readonly string[];
  readonly files: {
    readonly considered: number;
    readonly pruned: number;
    /** Number of pruned files that an index excluded. */
    readonly prunedByIndex: number;
    readonly searched: number;
    readonly damaged: number;
    readonly denied: number;
    /** FIFOs, sockets and devices. */
    readonly special: number;
  };
  readonly prunedFiles: readonly PrunedFile[];
  readonly bytes: { readonly read: number; readonly searched: number };
  readonly hits: number;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** A hit may belong to several interfaces; `other`: hits without an interface. */
  readonly byInterface: InterfaceCounts;
  readonly matching: readonly MatchingFile[];
  readonly samples: readonly FoundLine[];
  readonly notices: readonly Notice[];
  /** null without `trace`. */
  readonly traces: readonly Trace[] | null;
  /** There were more requests than were traced. */
  readonly tracesTruncated: boolean;
  readonly threads: number;
  readonly elapsedMs: number;
  /** Every hit in time order, when all were kept; readable until close(). */
  records(): Iterable<FoundLine>;
  /** Removes the temporary files. */
  close(): void;
}

export function isComplete(report: Report): boolean {
  return !report.notices.some(isIncomplete);
}

/** 0 hits and complete, 1 no hit and complete, 2 incomplete. */
export function exitCodeOf(report: Report): 0 | 1 | 2 {
  if (!isComplete(report)) return 2;
  return report.hits > 0 ? 0 : 1;
}

/** Lines from a worker thread are plain byte arrays, without the methods of Buffer. */
export function toFoundLine({ timeMs, interfaces, line, cut }: Hit, path: string): FoundLine {
  const { buffer, byteOffset, length } = line;
  return { path, timeMs, interfaces, line: Buffer.from(buffer, byteOffset, length), cut };
}

/** The report as one JSON object, without the records. */
export function reportToJson(report: Report): Record<string, unknown> {
  const zone = new Zone(report.query.zone);
  const { query, files, bytes } = report;
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
    notices: report.notices,
    ...(report.traces === null
      ? {}
      : { traces: tracesToJson(report.traces, zone), traces_truncated: report.tracesTruncated }),
    threads: report.threads,
    elapsed_ms: Math.round(report.elapsedMs),
  };
}

function tracesToJson(traces: readonly Trace[], zone: Zone) {
  return traces.map(({ id, lines, truncated }) => ({
    ...{ id, truncated },
    lines: lines.map((line) => ({ ...lineToJson(line, zone), is_hit: line.isHit })),
  }));
}

export function lineToJson({ path, timeMs, interfaces, line, cut }: FoundLine, zone: Zone) {
  return { path, time: zone.format(timeMs), interfaces, line: textOf(line), cut };
}

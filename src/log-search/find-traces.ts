// The second pass of `--trace`: finds the other lines of the hits' requests. Called by search.ts.

import { FILE_WORK } from './file-work.ts';
import { MAX_LINES_A_TRACE, type TracedLine, TraceTargets } from './hits/trace-lines.ts';
import { CardMatcher, holds } from './match/card-matcher.ts';
import { compareHits, type Hit } from './model/hit.ts';
import type { Notice } from './model/log-file.ts';
import type { Query, SearchOptions } from './model/query.ts';
import { makePlan } from './plan/plan.ts';
import type { Trace } from './report/report.ts';
import { forEachFile } from './scan/threads.ts';

interface FoundTraces {
  readonly traces: readonly Trace[];
  readonly truncated: boolean;
  readonly notices: readonly Notice[];
}

export async function findTraces(
  hits: Iterable<Hit>,
  roots: readonly string[],
  query: Query,
  { threads, signal }: SearchOptions,
): Promise<FoundTraces> {
  const targets = new TraceTargets();
  for (const hit of hits) targets.add(hit);
  const list = targets.list;
  if (list.length === 0) return { traces: [], truncated: false, notices: [] };
  const window = {
    fromMs: list.reduce((least, { fromMs }) => Math.min(least, fromMs), Number.POSITIVE_INFINITY),
    toMs: list.reduce((greatest, { toMs }) => Math.max(greatest, toMs), Number.NEGATIVE_INFINITY),
  };
  // The search is for lines without the card, so the index of the card does not help.
  const wider: Query = { ...query, window };
  const plan = await makePlan(roots, wider, null, signal);
  const lines: TracedLine[] = [];
  const cutShort = new Set<string>();
  const notices: Notice[] = [];
  const details = { query: wider, targets: list };
  const spread = { threads, onProgress: undefined, signal };
  await forEachFile(plan.tasks, FILE_WORK, 'findTraceLines', details, spread, (found) => {
    lines.push(...found.lines);
    for (const id of found.truncated) cutShort.add(id);
    const path = plan.tasks[found.file]?.path ?? '';
    notices.push(...found.problems.map((problem) => ({ path, ...problem })));
  });
  const paths = plan.tasks.map(({ path }) => path);
  const traces = list.map(({ id }) => traceOf(id, lines, paths, query.card, cutShort));
  return { traces, truncated: targets.truncated, notices };
}

function traceOf(
  id: string,
  lines: readonly TracedLine[],
  paths: readonly string[],
  card: string,
  cutShort: ReadonlySet<string>,
): Trace {
  const own = lines.filter((line) => line.id === id).map((line) => ({ ...line, interfaces: [] }));
  own.sort(compareHits);
  const matcher = new CardMatcher(card);
  return {
    id,
    lines: own.slice(0, MAX_LINES_A_TRACE).map(({ file, timeMs, line, cut }) => {
      const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
      return {
        path: paths[file] ?? '',
        timeMs,
        interfaces: [],
        line: bytes,
        cut,
        isHit: holds(matcher, bytes),
      };
    }),
    truncated: cutShort.has(id) || own.length > MAX_LINES_A_TRACE,
  };
}

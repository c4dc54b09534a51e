// `cardpoll logs`: plan -> scan each file -> report; with `--trace`, a second pass. Called by the command and by tests; needs no
// daemon, store or network.
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { FileHits } from './hits/find-hits.ts';
import { HitRuns, makeRunDirectory } from './hits/hit-runs.ts';
import { Totals } from './hits/totals.ts';
import { MAX_LINES_A_TRACE, type TracedLine, traceTargets } from './hits/trace-lines.ts';
import {
  compareHits,
  type Hit,
  NOTICES,
  type Notice,
  type NoticeCode,
  type Query,
  type SearchOptions,
  toFoundLine,
} from './model.ts';
import { parseQuery } from './plan/parse-query.ts';
import { makePlan, type Plan } from './plan/plan.ts';
import { walk } from './plan/walk.ts';
import { forEachFile } from './threads.ts';
import { Zone } from './time/zone.ts';

export type Report = Awaited<ReturnType<typeof searchLogs>>;

/**
 * Searches the logs. The caller closes the report.
 * @throws CardpollError `usage` for invalid options, `input_missing` for a root that does not exist.
 */
export async function searchLogs(options: SearchOptions) {
  const startedMs = performance.now();
  const query = parseQuery(options);
  const runDirectory = query.keep === 'all' ? makeRunDirectory() : null;
  const close = () => {
    if (runDirectory !== null) rmSync(runDirectory, { recursive: true, force: true });
  };
  try {
    const { plan, totals, threads } = await searchFiles(query, runDirectory, options);
    const pathOf = (file: number) => plan.tasks[file]?.path ?? '';
    const hits = runDirectory === null ? null : new HitRuns(totals.runs, runDirectory);
    const traced = options.trace === true && hits ? await findTraces(hits, query, options) : null;
    const foundLine = (hit: Hit) => toFoundLine(hit, pathOf(hit.file));
    const problems = totals.problems.map(({ file, ...problem }) => ({ path: pathOf(file), ...problem }));
    const notices = unique([plan.notices, problems, traced?.notices ?? []]);
    return {
      query,
      zone: new Zone(query.zone),
      roots: options.roots,
      files: fileCounts(plan, notices, totals.searchedFiles),
      prunedFiles: plan.pruned,
      bytes: { read: totals.bytesRead + plan.bytesRead, searched: totals.bytesSearched },
      ...totals.counts,
      matching: totals.matching.map(({ file, ...found }) => ({ path: pathOf(file), ...found })),
      samples: totals.samples.first().map(foundLine),
      undatedSamples: totals.undatedSamples.first().map(foundLine),
      notices,
      // null without `trace`.
      traces: traced?.traces ?? null,
      tracesTruncated: traced?.truncated ?? false,
      threads,
      elapsedMs: performance.now() - startedMs,
      /** Every hit in time order, when all were kept; readable until close(). */
      *records() {
        for (const hit of hits?.inOrder() ?? []) yield foundLine(hit);
      },
      /** Removes the temporary files. */
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function searchFiles(query: Query, runDirectory: string | null, options: SearchOptions) {
  using found = walk(options.roots);
  const plan = await makePlan(found, query, options.signal);
  const totals = new Totals(query);
  const add = (result: FileHits) => totals.add(result);
  const threads = await forEachFile(plan.tasks, 'findHits', { query, runDirectory }, options, add);
  totals.sort();
  return { plan, threads, totals };
}

function fileCounts({ considered, pruned, special }: Plan, notices: readonly Notice[], searched: number) {
  const count = (fits: (code: NoticeCode) => boolean) =>
    new Set(notices.filter(({ code }) => fits(code)).map(({ path }) => path)).size;
  return {
    considered,
    pruned: pruned.length,
    searched,
    damaged: count((code) => NOTICES[code] === 'damaged'),
    denied: count((code) => code === 'denied'),
    // FIFOs, sockets and devices.
    special,
  };
}

/** The second pass of `--trace`: finds the other lines of the hits' requests. */
async function findTraces(hits: HitRuns, query: Query, options: SearchOptions) {
  const { targets, truncated } = traceTargets(hits.inOrder());
  if (targets.length === 0) return { traces: [], truncated: false, notices: [] };
  const window = {
    fromMs: Math.min(...targets.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...targets.map(({ toMs }) => toMs)),
  };
  const wider: Query = { ...query, window };
  using found = walk(options.roots);
  const plan = await makePlan(found, wider, options.signal);
  const silent = { ...options, onProgress: undefined };
  const work = { query: wider, targets };
  const lines: TracedLine[] = [];
  const cutShort = new Set<string>();
  const notices: Notice[] = [];
  const paths = plan.tasks.map(({ path }) => path);
  await forEachFile(plan.tasks, 'findTraceLines', work, silent, (result) => {
    for (const line of result.lines) lines.push(line);
    for (const id of result.truncated) cutShort.add(id);
    for (const problem of result.problems) notices.push({ path: paths[result.file] ?? '', ...problem });
  });
  const traces = targets.map(({ id }) => traceOf(id, lines, paths, cutShort));
  return { traces, truncated, notices };
}

function traceOf(
  id: string,
  lines: readonly TracedLine[],
  paths: readonly string[],
  cutShort: ReadonlySet<string>,
) {
  const own = lines.filter((line) => line.id === id).sort(compareHits);
  return {
    id,
    lines: own.slice(0, MAX_LINES_A_TRACE).map((line) => ({
      ...toFoundLine({ ...line, interfaces: [] }, paths[line.file] ?? ''),
      isHit: line.isHit,
    })),
    truncated: cutShort.has(id) || own.length > MAX_LINES_A_TRACE,
  };
}

/** A second pass reports the same files again. */
function unique(notices: readonly (readonly Notice[])[]): Notice[] {
  return [...new Map(notices.flat().map((notice) => [`${notice.code} ${notice.path}`, notice])).values()];
}

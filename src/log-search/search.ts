// `cardpoll logs`: plan -> scan each file -> report; with `--trace`, a second pass. Called by the command and by tests; needs no
// daemon, store or network.
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { sum, sumOfCounts } from '../domain/numbers.ts';
import type { FileHits } from './hits/find-hits.ts';
import { HitRuns, makeRunDirectory } from './hits/hit-runs.ts';
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
    const { plan, results, threads } = await searchFiles(query, runDirectory, options);
    const pathOf = (file: number) => plan.tasks[file]?.path ?? '';
    const runs = results.flatMap((result) => result.runs);
    const hits = runDirectory === null ? null : new HitRuns(runs, runDirectory);
    const traced = options.trace === true && hits ? await findTraces(hits, query, options) : null;
    const problems = results.flatMap((result) => noticesOf(result, pathOf(result.file)));
    const samplesOf = (hits: readonly Hit[][]) =>
      hits
        .flat()
        .sort(compareHits)
        .slice(0, query.samples)
        .map((hit) => toFoundLine(hit, pathOf(hit.file)));
    const notices = unique([...plan.notices, ...problems, ...(traced?.notices ?? [])]);
    return {
      query,
      zone: new Zone(query.zone),
      roots: options.roots,
      files: fileCounts(plan, notices, results),
      prunedFiles: plan.pruned,
      bytes: {
        read: sum(results.map(({ bytesRead }) => bytesRead)) + plan.bytesRead,
        searched: sum(results.map(({ bytesSearched }) => bytesSearched)),
      },
      hits: sum(results.map(({ count }) => count)),
      /** Lines of the card without a readable time; in a search with a window they are not counted as hits. */
      undated: sum(results.map(({ undated }) => undated)),
      /** Hits that have the time of the record that they continue. */
      continued: sum(results.map(({ continued }) => continued)),
      /** Hits whose zone is written with a name of more than one meaning. */
      ambiguous: sum(results.map(({ ambiguous }) => ambiguous)),
      firstMs: extreme(
        results.map(({ firstMs }) => firstMs),
        Math.min,
      ),
      lastMs: extreme(
        results.map(({ lastMs }) => lastMs),
        Math.max,
      ),
      // A hit may belong to several; `other`: hits without an interface.
      byInterface: sumOfCounts<string>(results.map(({ byInterface }) => byInterface)),
      matching: results
        .filter(({ count }) => count > 0)
        .map(({ file, count, firstMs, lastMs }) => ({ path: pathOf(file), hits: count, firstMs, lastMs })),
      samples: samplesOf(results.map(({ samples }) => samples)),
      /** In a search with a window. */
      undatedSamples: samplesOf(results.map(({ undatedSamples }) => undatedSamples)),
      notices,
      // null without `trace`.
      traces: traced?.traces ?? null,
      tracesTruncated: traced?.truncated ?? false,
      threads,
      elapsedMs: performance.now() - startedMs,
      /** Every hit in time order, when all were kept; readable until close(). */
      *records() {
        for (const hit of hits?.inOrder() ?? []) yield toFoundLine(hit, pathOf(hit.file));
      },
      /** Removes the temporary files. */
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** @returns the results in the order of the plan. */
async function searchFiles(query: Query, runDirectory: string | null, options: SearchOptions) {
  using found = walk(options.roots);
  const plan = await makePlan(found, query, options.signal);
  const work = { query, runDirectory };
  const { results, threads } = await forEachFile(plan.tasks, 'findHits', work, options);
  return { plan, threads, results: results.sort((a, b) => a.file - b.file) };
}

function noticesOf({ problems }: Pick<FileHits, 'problems'>, path: string): Notice[] {
  return problems.map((problem) => ({ path, ...problem }));
}

function fileCounts(plan: Plan, notices: readonly Notice[], results: readonly FileHits[]) {
  const count = (fits: (code: NoticeCode) => boolean) =>
    new Set(notices.filter(({ code }) => fits(code)).map(({ path }) => path)).size;
  const searched = results.filter(({ problems }) => !problems.some(({ code }) => NOTICES[code] === 'unread'));
  return {
    considered: plan.considered,
    pruned: plan.pruned.length,
    searched: searched.length,
    damaged: count((code) => NOTICES[code] === 'damaged'),
    denied: count((code) => code === 'denied'),
    // FIFOs, sockets and devices.
    special: plan.special,
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
  const { results } = await forEachFile(plan.tasks, 'findTraceLines', work, silent);
  const lines = results.flatMap((result) => result.lines);
  const cutShort = new Set(results.flatMap(({ truncated }) => truncated));
  const paths = plan.tasks.map(({ path }) => path);
  const traces = targets.map(({ id }) => traceOf(id, lines, paths, cutShort));
  const notices = results.flatMap((result) => noticesOf(result, paths[result.file] ?? ''));
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
function unique(notices: readonly Notice[]): Notice[] {
  return [...new Map(notices.map((notice) => [`${notice.code} ${notice.path}`, notice])).values()];
}

function extreme(values: readonly (number | null)[], of: (a: number, b: number) => number): number | null {
  return values.reduce((a, b) => (a === null || b === null ? (a ?? b) : of(a, b)), null);
}

// `cardpoll logs`: plan -> scan each file -> report; with `--trace`, a second pass. Called by the command and by tests; needs no
// daemon, store or network.
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { sumOfCounts } from '../domain/numbers.ts';
import type { FileHits } from './hits/find-hits.ts';
import { HitRuns, makeRunDirectory } from './hits/hit-runs.ts';
import { MAX_LINES_A_TRACE, type TracedLine, TraceTargets } from './hits/trace-lines.ts';
import { CardMatcher, holds } from './match/card-matcher.ts';
import {
  compareHits,
  type FileTask,
  type Hit,
  NOTICES,
  type Notice,
  type NoticeCode,
  type Query,
  type SearchOptions,
} from './model.ts';
import { parseQuery } from './plan/parse-query.ts';
import { makePlan, type Plan } from './plan/plan.ts';
import { findMovedFiles } from './plan/rotation.ts';
import { walk } from './plan/walk.ts';
import { type FoundLine, type Report, type Trace, toFoundLine } from './report/report.ts';
import { forEachFile } from './threads.ts';

/**
 * Searches the logs. The caller closes the report.
 * @throws CardpollError `usage` for invalid options, `input_missing` for a root that does not exist.
 */
export async function searchLogs(options: SearchOptions): Promise<Report> {
  const startedMs = performance.now();
  const query = parseQuery(options);
  const roots = options.roots.filter((root) => root !== '');
  const plan = await makePlan(roots, query, options.cacheDir ?? null, options.signal);
  const search = new Search(plan, query, roots, options);
  try {
    await search.searchFiles();
    return await search.report(startedMs);
  } catch (error) {
    search.close();
    throw error;
  }
}

/** How often a search looks for files that disappeared. */
const MAX_PASSES = 3;

class Search {
  readonly #results = new Map<number, FileHits>();
  readonly #tasks: FileTask[];
  readonly #runDirectory: string | null;
  #runs: HitRuns | null = null;
  /** Maximum number of threads used at a time. */
  #threads = 1;
  /** Numbers of the files that disappeared and were found again, renamed or compressed. */
  readonly #replaced = new Set<number>();

  constructor(
    private readonly plan: Plan,
    private readonly query: Query,
    private readonly roots: readonly string[],
    private readonly options: SearchOptions,
  ) {
    this.#tasks = [...plan.tasks];
    this.#runDirectory = query.keep === 'all' ? makeRunDirectory() : null;
  }

  async searchFiles(): Promise<void> {
    await this.#search(this.#tasks);
    for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
      const gone = this.#tasks.filter(
        ({ number }) =>
          !this.#replaced.has(number) && this.#problemsOf(number).some(({ code }) => code === 'vanished'),
      );
      if (gone.length === 0 || !(await this.#searchMoved(gone))) return;
    }
  }

  close(): void {
    if (this.#runDirectory !== null) rmSync(this.#runDirectory, { recursive: true, force: true });
  }

  async report(startedMs: number): Promise<Report> {
    const { plan, query } = this;
    const results = [...this.#results.values()].sort((a, b) => a.file - b.file);
    const traced =
      this.options.trace === true ? await findTraces(this.#records(), this.roots, query, this.options) : null;
    const notices = unique([...plan.notices, ...this.#notices(), ...(traced?.notices ?? [])]);
    return {
      query,
      roots: this.roots,
      files: this.#fileCounts(notices, results),
      prunedFiles: plan.pruned,
      bytes: {
        read: sum(results, ({ bytesRead }) => bytesRead) + plan.bytesRead,
        searched: sum(results, ({ bytesSearched }) => bytesSearched),
      },
      hits: sum(results, ({ count }) => count),
      firstMs: extreme(
        results.map(({ firstMs }) => firstMs),
        Math.min,
      ),
      lastMs: extreme(
        results.map(({ lastMs }) => lastMs),
        Math.max,
      ),
      byInterface: sumOfCounts<string>(results.map(({ byInterface }) => byInterface)),
      matching: this.#matching(results),
      samples: this.#samples(results),
      notices,
      traces: traced?.traces ?? null,
      tracesTruncated: traced?.truncated ?? false,
      threads: this.#threads,
      elapsedMs: performance.now() - startedMs,
      records: () => this.#foundLines(),
      close: () => this.close(),
    };
  }

  async #search(tasks: readonly FileTask[]): Promise<void> {
    const details = { query: this.query, runDirectory: this.#runDirectory };
    const used = await forEachFile(tasks, 'findHits', details, this.options, (found) => {
      this.#results.set(found.file, found);
    });
    this.#threads = Math.max(this.#threads, used);
  }

  /** Searches the files that were rotated meanwhile. @returns whether there were any. */
  async #searchMoved(gone: readonly FileTask[]): Promise<boolean> {
    const moved = findMovedFiles(gone, this.#tasks, walk(this.roots).files);
    const tasks: FileTask[] = [];
    for (const { file, original } of moved) {
      this.#replaced.add(original.number);
      if (file !== null)
        tasks.push({ ...file, number: this.#tasks.length + tasks.length, fallback: original.fallback });
    }
    this.#tasks.push(...tasks);
    await this.#search(tasks);
    return tasks.length > 0;
  }

  #problemsOf(file: number) {
    return this.#results.get(file)?.problems ?? [];
  }

  #notices(): Notice[] {
    return this.#tasks.flatMap(({ number, path }) =>
      this.#replaced.has(number) ? [] : this.#problemsOf(number).map((problem) => ({ path, ...problem })),
    );
  }

  #fileCounts(notices: readonly Notice[], results: readonly FileHits[]): Report['files'] {
    const { plan } = this;
    const count = (fits: (code: NoticeCode) => boolean) =>
      new Set(notices.filter(({ code }) => fits(code)).map(({ path }) => path)).size;
    const searched = results.filter(
      ({ problems }) => !problems.some(({ code }) => NOTICES[code] === 'unread'),
    );
    return {
      considered: plan.considered,
      pruned: plan.pruned.length,
      prunedByIndex: plan.pruned.filter(({ reason }) => reason.startsWith('index_')).length,
      searched: searched.length,
      damaged: count((code) => NOTICES[code] === 'damaged'),
      denied: count((code) => code === 'denied'),
      special: plan.special,
    };
  }

  #matching(results: readonly FileHits[]): Report['matching'] {
    return results
      .filter(({ count }) => count > 0)
      .map(({ file, count, firstMs, lastMs }) => ({
        path: this.#pathOf(file),
        hits: count,
        firstMs,
        lastMs,
      }));
  }

  #samples(results: readonly FileHits[]): Report['samples'] {
    return results
      .flatMap(({ samples }) => samples)
      .sort(compareHits)
      .slice(0, this.query.samples)
      .map((hit) => this.#found(hit));
  }

  *#foundLines(): Generator<FoundLine> {
    for (const hit of this.#records()) yield this.#found(hit);
  }

  *#records(): Generator<Hit> {
    if (this.#runDirectory === null) return;
    const paths = [...this.#results.values()].flatMap(({ runs }) => runs);
    this.#runs ??= new HitRuns(paths, this.#runDirectory);
    yield* this.#runs.inOrder();
  }

  #found(hit: Hit): FoundLine {
    return toFoundLine(hit, this.#pathOf(hit.file));
  }

  #pathOf(file: number): string {
    return this.#tasks[file]?.path ?? '';
  }
}

/** The second pass of `--trace`: finds the other lines of the hits' requests. */
async function findTraces(
  hits: Iterable<Hit>,
  roots: readonly string[],
  query: Query,
  options: SearchOptions,
) {
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
  const plan = await makePlan(roots, wider, null, options.signal);
  const lines: TracedLine[] = [];
  const cutShort = new Set<string>();
  const notices: Notice[] = [];
  const details = { query: wider, targets: list };
  const silent = { ...options, onProgress: undefined };
  await forEachFile(plan.tasks, 'findTraceLines', details, silent, (found) => {
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
  const own = lines.filter((line) => line.id === id).sort(compareHits);
  const matcher = new CardMatcher(card);
  return {
    id,
    lines: own.slice(0, MAX_LINES_A_TRACE).map((line) => {
      const found = toFoundLine({ ...line, interfaces: [] }, paths[line.file] ?? '');
      return { ...found, isHit: holds(matcher, found.line) };
    }),
    truncated: cutShort.has(id) || own.length > MAX_LINES_A_TRACE,
  };
}

/** A second pass reports the same files again. */
function unique(notices: readonly Notice[]): Notice[] {
  return [...new Map(notices.map((notice) => [`${notice.code} ${notice.path}`, notice])).values()];
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function extreme(values: readonly (number | null)[], of: (a: number, b: number) => number): number | null {
  return values.reduce((a, b) => (a === null || b === null ? (a ?? b) : of(a, b)), null);
}

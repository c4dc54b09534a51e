// `cardpoll logs index`: creates or updates the index of every log file that no longer grows. Called by the command, from
// cron or a logrotate postrotate script. search.ts uses existing indexes.

import { dropStale } from './index/index-store.ts';
import { type FileTask, isIncomplete, type Query, type SearchOptions } from './model.ts';
import { makePlan } from './plan/plan.ts';
import { walk } from './plan/walk.ts';
import { FileBytes } from './read/file-bytes.ts';
import { isGzip } from './read/gzip/gzip-format.ts';
import { forEachFile } from './threads.ts';

/** Searches in another zone ignore the times without offset. */
interface IndexOptions extends Pick<SearchOptions, 'roots' | 'tz' | 'threads' | 'onProgress' | 'signal'> {
  readonly cacheDir: string;
}

/** A plain file that was written within this time may still grow. */
const AT_REST_MS = 60_000;

/** @throws CardpollError `usage` / `bad_zone`, `input_missing` / `root_missing`. */
export async function indexLogs(options: IndexOptions) {
  const query: Query = {
    ...{ card: '', interface: null, ownSigns: {}, strict: false, window: null, zone: options.tz ?? null },
    ...{ keep: 'count', samples: 0, prune: false, inflate: 'auto' },
  };
  using found = walk(options.roots);
  const plan = await makePlan(found, query, null, options.signal);
  const nowMs = Date.now();
  const tasks = plan.tasks.filter((task) => isAtRest(task, nowMs));
  const resting = new Set(tasks);
  const work = { query, cacheDirectory: options.cacheDir };
  const { results } = await forEachFile(tasks, 'indexFile', work, options);
  const growing = plan.tasks.filter((task) => !resting.has(task));
  const failed = results.filter(({ state }) => state === 'left_out');
  return {
    indexed: results.filter(({ state }) => state === 'indexed').length,
    current: results.filter(({ state }) => state === 'current').length,
    leftOut: [
      ...growing.map(({ path }) => ({ path, reason: 'still written' })),
      ...failed.map(({ file, reason }) => ({ path: plan.tasks[file]?.path ?? '', reason })),
    ],
    /** Every file that no longer grows has an index. */
    isComplete: failed.length === 0 && !plan.notices.some(isIncomplete),
    // Indexes of log files that are gone or changed.
    dropped: dropStale(options.cacheDir),
    notices: plan.notices,
  };
}

function isAtRest(task: FileTask, nowMs: number): boolean {
  if (nowMs - task.mtimeMs >= AT_REST_MS) return true;
  try {
    using bytes = FileBytes.of(task);
    return bytes !== null && isGzip(bytes.readAt(0, Buffer.alloc(2)));
  } catch {
    // Indexing the file will report the error.
    return true;
  }
}

// Spreads the files of a plan over threads: this one, and worker threads that begin in scan-worker.ts. Used by whoever
// does something with many files: search.ts, find-traces.ts, index-logs.ts. A thread takes the next file from a shared
// counter, so nobody waits for this thread to hand out work while it scans. Does not know what is done with a file.
import { availableParallelism } from 'node:os';
import { setInterval } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { CardpollError } from '../../platform/errors.ts';
import { type FileHits, findHits } from '../hits/find-hits.ts';
import { type IndexResult, indexFile } from '../index/index-file.ts';
import type { FileTask } from '../plan/plan.ts';
import type { Progress, Query } from '../plan/query.ts';
import { findTraceLines, type TraceResult, type TraceTarget } from '../trace/trace.ts';
import type { ScanControl } from './scan-file.ts';

/** What is done with each file: plain data, so that it can be handed to a worker thread. */
type Work =
  | { readonly kind: 'hits'; readonly query: Query; readonly runDirectory: string | null }
  | { readonly kind: 'trace'; readonly query: Query; readonly targets: readonly TraceTarget[] }
  | { readonly kind: 'index'; readonly query: Query; readonly cacheDirectory: string };

interface Results {
  readonly hits: FileHits;
  readonly trace: TraceResult;
  readonly index: IndexResult;
}

type AnyResult = Results[keyof Results];

async function work(task: FileTask, what: Work, control: ScanControl): Promise<AnyResult> {
  switch (what.kind) {
    case 'hits':
      return findHits(task, what.query, what.runDirectory, control);
    case 'trace':
      return findTraceLines(task, what.query, what.targets, control);
    case 'index':
      return indexFile(task, what.query, what.cacheDirectory, control);
  }
}

interface ThreadOptions {
  /** At most; default: one a processor. */
  readonly threads: number | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Inflated log text is so much larger than on disk, roughly. */
const INFLATION = 8;
/** Starting a thread costs as much as scanning so many bytes. */
const WORTH_A_THREAD_BYTES = 64 * 1024 * 1024;
const PROGRESS_MS = 100;

/**
 * Rejects with the signal's reason when it is aborted.
 * @param onResult called once a file, in any order.
 * @returns how many threads it took.
 */
export async function forEachFile<W extends Work>(
  tasks: readonly FileTask[],
  what: W,
  { threads: wanted, onProgress, signal }: ThreadOptions,
  onResult: (result: Results[W['kind']]) => void,
): Promise<number> {
  signal?.throwIfAborted();
  const threads = threadsFor(tasks, wanted);
  const board = Board.for(threads);
  const stop = () => board.stop();
  signal?.addEventListener('abort', stop);
  const totalBytes = tasks.reduce((sum, { size }) => sum + size, 0);
  const report = () => onProgress?.({ doneBytes: Math.min(totalBytes, board.doneBytes), totalBytes });
  const timer = onProgress === undefined ? null : setInterval(report, PROGRESS_MS);
  const largestFirst = [...tasks].sort((a, b) => weight(b) - weight(a));
  const share: Share = { tasks: largestFirst, what, memory: board.memory, thread: 0 };
  // The results are of the kind of the work.
  const take = onResult as (result: AnyResult) => void;
  try {
    const others = Array.from({ length: threads - 1 }, (_, index) =>
      startThread({ ...share, thread: index + 1 }, take),
    );
    const outcomes = await Promise.allSettled([workOffShare(share, take), ...others]);
    signal?.throwIfAborted();
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return threads;
  } finally {
    if (timer !== null) clearInterval(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function threadsFor(tasks: readonly FileTask[], wanted = availableParallelism()): number {
  const bytes = tasks.reduce((sum, task) => sum + weight(task), 0);
  return Math.max(1, Math.min(wanted, tasks.length, Math.ceil(bytes / WORTH_A_THREAD_BYTES)));
}

/** What scanning costs. Names are good enough to guess what is compressed. */
function weight({ path, size }: FileTask): number {
  return /\.(gz|z)$/i.test(path) ? size * INFLATION : size;
}

/** What a thread is started with. */
export interface Share {
  readonly tasks: readonly FileTask[];
  readonly what: Work;
  /** Of the board that all threads share. */
  readonly memory: SharedArrayBuffer;
  readonly thread: number;
}

/** One thread's share: takes file after file until none is left. When it fails, the other threads stop too. */
export async function workOffShare(
  { tasks, what, memory, thread }: Share,
  onResult: (result: AnyResult) => void,
): Promise<void> {
  const board = new Board(memory);
  try {
    for (let doneBytes = 0; !board.isStopped; ) {
      const task = tasks[board.takeNext()];
      if (task === undefined) return;
      const control: ScanControl = {
        isStopped: () => board.isStopped,
        // A file that is scanned a second time is read more than once, but is no larger for it.
        progress: (bytes) => board.setDone(thread, doneBytes + Math.min(bytes, task.size)),
      };
      onResult(await work(task, what, control));
      doneBytes += task.size;
      board.setDone(thread, doneBytes);
    }
  } catch (error) {
    board.stop();
    throw error;
  }
}

function startThread(share: Share, onResult: (result: AnyResult) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(workerUrl(), { workerData: share });
    thread.on('message', onResult);
    thread.once('error', (error) => reject(thrownByThread(error)));
    thread.once('exit', () => resolve());
  });
}

/** Beside this file in the bundle; started from the sources, in the bundle all the same. */
function workerUrl(): URL {
  const fromSources = import.meta.url.endsWith('.ts');
  return new URL(fromSources ? '../../../dist/log-scan-worker.js' : './log-scan-worker.js', import.meta.url);
}

/** What a thread threw, as it was before it crossed the border, which takes the class away. */
function thrownByThread(error: Error): CardpollError {
  const { kind, code, hint } = error as Partial<CardpollError>;
  const { message, cause = error } = error;
  if (error.name !== 'CardpollError' || kind === undefined || code === undefined) {
    return new CardpollError('internal', 'scan_failed', `log search failed: ${message}`, { cause });
  }
  return new CardpollError(kind, code, message, hint === undefined ? { cause } : { cause, hint });
}

/** What the threads share: which file is next, whether to stop, and how many bytes each is done with. */
class Board {
  readonly #flags: Int32Array;
  readonly #done: Float64Array;

  constructor(readonly memory: SharedArrayBuffer) {
    this.#flags = new Int32Array(memory, 0, 2);
    this.#done = new Float64Array(memory, 8);
  }

  static for(threads: number): Board {
    return new Board(new SharedArrayBuffer(8 + threads * 8));
  }

  takeNext(): number {
    return Atomics.add(this.#flags, 0, 1);
  }

  stop(): void {
    Atomics.store(this.#flags, 1, 1);
  }

  get isStopped(): boolean {
    return Atomics.load(this.#flags, 1) === 1;
  }

  setDone(thread: number, bytes: number): void {
    this.#done[thread] = bytes;
  }

  get doneBytes(): number {
    return this.#done.reduce((sum, bytes) => sum + bytes, 0);
  }
}

// Distributes the files of a plan over threads: this one, and worker threads that begin in scan-worker.ts. Used by search.ts. A
// thread takes the next file from a shared counter, so none waits for this thread to hand out work while it scans.
import { availableParallelism } from 'node:os';
import { setInterval } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { sum } from '../domain/numbers.ts';
import { CardpollError } from '../platform/errors.ts';
import { findHits } from './hits/find-hits.ts';
import { findTraceLines } from './hits/trace-lines.ts';
import type { FileTask, SearchOptions } from './model.ts';
import type { ScanControl } from './scan/scan-file.ts';

/** The functions for files, by name: a function cannot be sent to a worker thread, so a thread gets its name. */
const FILE_WORK = { findHits, findTraceLines } as const;
type FileWork = typeof FILE_WORK;
type ResultOf<Name extends keyof FileWork> = Awaited<ReturnType<ReturnType<FileWork[Name]>>>;

/** Approximate ratio of inflated log text to its size on disk. */
const INFLATION = 8;
/** Starting a thread costs as much as scanning this many bytes. */
const WORTH_A_THREAD_BYTES = 64 * 1024 * 1024;
const PROGRESS_MS = 100;

/** Memory shared by the threads: these two, then the KiB done by each thread. */
const NEXT_FILE = 0;
const STOPPED = 1;
const FIRST_DONE = 2;

/**
 * Runs the named function on each file. Rejects with the signal's reason when it is aborted.
 * @param details plain data: they are copied to worker threads.
 * @param onResult gets the result of each file, in any order.
 * @returns the number of threads used.
 */
export async function forEachFile<Name extends keyof FileWork>(
  tasks: readonly FileTask[],
  name: Name,
  details: Parameters<FileWork[Name]>[0],
  { threads: wanted, onProgress, signal }: Pick<SearchOptions, 'threads' | 'onProgress' | 'signal'>,
  onResult: (result: ResultOf<Name>) => void,
): Promise<number> {
  signal?.throwIfAborted();
  const threads = threadsFor(tasks, wanted);
  const board = new Int32Array(new SharedArrayBuffer(4 * (FIRST_DONE + threads)));
  const stop = () => Atomics.store(board, STOPPED, 1);
  signal?.addEventListener('abort', stop);
  const totalBytes = sum(tasks.map(({ size }) => size));
  const doneBytes = () => 1_024 * sum([...board.subarray(FIRST_DONE)]);
  const report = () => onProgress?.({ doneBytes: Math.min(totalBytes, doneBytes()), totalBytes });
  const timer = onProgress === undefined ? null : setInterval(report, PROGRESS_MS);
  const largestFirst = [...tasks].sort((a, b) => weight(b) - weight(a));
  const share: Share = { tasks: largestFirst, name, details, board, thread: 0 };
  // Each result comes from this work, though a thread's message has no type.
  const take = (result: unknown) => onResult(result as ResultOf<Name>);
  try {
    const others = Array.from({ length: threads - 1 }, (_, other) =>
      startThread({ ...share, thread: other + 1 }, take),
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
  const bytes = sum(tasks.map(weight));
  return Math.max(1, Math.min(wanted, tasks.length, Math.ceil(bytes / WORTH_A_THREAD_BYTES)));
}

/** Approximate cost of scanning a file. Its name is good enough to guess whether it is compressed. */
function weight({ path, size }: FileTask): number {
  return /\.(gz|z)$/i.test(path) ? size * INFLATION : size;
}

/** The data that a thread is started with. */
export interface Share {
  readonly tasks: readonly FileTask[];
  /** The function, and its details. */
  readonly name: keyof FileWork;
  readonly details: unknown;
  readonly board: Int32Array<SharedArrayBuffer>;
  readonly thread: number;
}

/** Works on file after file until none is left. When it fails, the other threads stop too. */
export async function workOffShare(
  { tasks, name, details, board, thread }: Share,
  onResult: (result: unknown) => void,
): Promise<void> {
  const isStopped = () => Atomics.load(board, STOPPED) === 1;
  const setDone = (bytes: number) => {
    board[FIRST_DONE + thread] = bytes / 1_024;
  };
  try {
    const prepare: (details: never) => (task: FileTask, control: ScanControl) => Promise<unknown> =
      FILE_WORK[name];
    const doWork = prepare(details as never);
    for (let doneBytes = 0; !isStopped(); ) {
      const task = tasks[Atomics.add(board, NEXT_FILE, 1)];
      if (task === undefined) return;
      // A file that is scanned again is read more than once, but is not larger for that.
      const progress = (bytes: number) => setDone(doneBytes + Math.min(bytes, task.size));
      onResult(await doWork(task, { isStopped, progress }));
      doneBytes += task.size;
      setDone(doneBytes);
    }
  } catch (error) {
    Atomics.store(board, STOPPED, 1);
    throw error;
  }
}

function startThread(share: Share, onResult: (result: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(workerUrl(), { workerData: share });
    thread.on('message', onResult);
    thread.once('error', (error) => reject(thrownByThread(error)));
    thread.once('exit', () => resolve());
  });
}

/** The worker is next to this file in the bundle; code that runs from the sources also uses the bundle. */
function workerUrl(): URL {
  const fromSources = import.meta.url.endsWith('.ts');
  return new URL(fromSources ? '../../dist/log-scan-worker.js' : './log-scan-worker.js', import.meta.url);
}

/** Restores the class of an error from a worker thread, which is lost on the way. */
function thrownByThread(error: Error): CardpollError {
  const { kind, code, hint } = error as Partial<CardpollError>;
  const { message, cause = error } = error;
  if (error.name !== 'CardpollError' || kind === undefined || code === undefined) {
    return new CardpollError('internal', 'scan_failed', `log search failed: ${message}`, { cause });
  }
  return new CardpollError(kind, code, message, hint === undefined ? { cause } : { cause, hint });
}

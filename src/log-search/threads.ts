// Spreads the files of a plan over threads: this one, and worker threads that begin in scan-worker.ts. Used by search.ts and
// index-logs.ts. A thread takes the next file from a shared counter, so none waits for this thread to hand out work while it
// scans.
import { availableParallelism } from 'node:os';
import { setInterval } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { CardpollError } from '../platform/errors.ts';
import { findHits } from './hits/find-hits.ts';
import { findTraceLines } from './hits/trace-lines.ts';
import { indexFile } from './index/index-file.ts';
import type { FileTask, SearchOptions } from './model.ts';
import type { ScanControl } from './scan/scan-file.ts';

/** What can be done with a file, by name: a function cannot be sent to a worker thread, so a thread gets its name. */
const FILE_WORK = { findHits, findTraceLines, indexFile } as const;
type FileWork = typeof FILE_WORK;

/** Approximate ratio of inflated log text to its size on disk. */
const INFLATION = 8;
/** Starting a thread costs as much as scanning this many bytes. */
const WORTH_A_THREAD_BYTES = 64 * 1024 * 1024;
const PROGRESS_MS = 100;

/**
 * Runs the named function on each file. Rejects with the signal's reason when it is aborted.
 * @param details plain data: they are copied to worker threads.
 * @param onResult called once per file, in any order.
 * @returns the number of threads used.
 */
export async function forEachFile<Name extends keyof FileWork>(
  tasks: readonly FileTask[],
  name: Name,
  details: Parameters<FileWork[Name]>[1],
  { threads: wanted, onProgress, signal }: Pick<SearchOptions, 'threads' | 'onProgress' | 'signal'>,
  onResult: (result: Awaited<ReturnType<FileWork[Name]>>) => void,
): Promise<number> {
  signal?.throwIfAborted();
  const threads = threadsFor(tasks, wanted);
  const board = new Board(new SharedArrayBuffer(8 + threads * 8));
  const stop = () => board.stop();
  signal?.addEventListener('abort', stop);
  const totalBytes = tasks.reduce((sum, { size }) => sum + size, 0);
  const report = () => onProgress?.({ doneBytes: Math.min(totalBytes, board.doneBytes), totalBytes });
  const timer = onProgress === undefined ? null : setInterval(report, PROGRESS_MS);
  const largestFirst = [...tasks].sort((a, b) => weight(b) - weight(a));
  const share: Share = { tasks: largestFirst, name, details, memory: board.memory, thread: 0 };
  // Each result comes from this work, though a thread's message has no type.
  const take = onResult as (result: unknown) => void;
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
  const bytes = tasks.reduce((sum, task) => sum + weight(task), 0);
  return Math.max(1, Math.min(wanted, tasks.length, Math.ceil(bytes / WORTH_A_THREAD_BYTES)));
}

/** Approximate cost of scanning a file. Its name is good enough to guess whether it is compressed. */
function weight({ path, size }: FileTask): number {
  return /\.(gz|z)$/i.test(path) ? size * INFLATION : size;
}

/** The data that a thread is started with. */
export interface Share {
  readonly tasks: readonly FileTask[];
  /** What to do with them, and its details. */
  readonly name: keyof FileWork;
  readonly details: unknown;
  /** The memory of the board, shared by all threads. */
  readonly memory: SharedArrayBuffer;
  readonly thread: number;
}

/** Works on file after file until none is left. When it fails, the other threads stop too. */
export async function workOffShare(
  { tasks, name, details, memory, thread }: Share,
  onResult: (result: unknown) => void,
): Promise<void> {
  const board = new Board(memory);
  try {
    const doWork: (task: FileTask, details: never, control: ScanControl) => Promise<unknown> =
      FILE_WORK[name];
    for (let doneBytes = 0; !board.isStopped; ) {
      const task = tasks[board.takeNext()];
      if (task === undefined) return;
      const control: ScanControl = {
        isStopped: () => board.isStopped,
        // A file that is scanned a second time is read more than once, but is no larger for it.
        progress: (bytes) => board.setDone(thread, doneBytes + Math.min(bytes, task.size)),
      };
      onResult(await doWork(task, details as never, control));
      doneBytes += task.size;
      board.setDone(thread, doneBytes);
    }
  } catch (error) {
    board.stop();
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

/** State shared by the threads: the next file, whether to stop, and the bytes done by each thread. */
class Board {
  readonly #flags: Int32Array;
  readonly #done: Float64Array;

  /** @param memory 8 bytes, and 8 for each thread. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.#flags = new Int32Array(memory, 0, 2);
    this.#done = new Float64Array(memory, 8);
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

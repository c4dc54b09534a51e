// Spreads the files of a plan over threads: this one and worker threads that run scan-worker.ts. Used by search.ts. A
// thread takes the next file from a shared counter, so nobody waits for this thread to hand out work while it scans.
import { availableParallelism } from 'node:os';
import { setInterval } from 'node:timers';
import { Worker } from 'node:worker_threads';
import type { FileTask } from '../plan/plan.ts';
import type { Progress } from '../plan/query.ts';
import { type ScanResult, type ScanSession, scanShare, sharedSize, thrownByThread } from './scan-share.ts';
import type { ScanWork } from './scan-work.ts';

/** Inflated log text is so much larger than on disk, roughly. */
const INFLATION = 8;
/** Starting a thread costs as much as searching so many bytes. */
const WORTH_A_THREAD_BYTES = 64 * 1024 * 1024;
const PROGRESS_MS = 100;
const ABORTED = 1;

export interface PoolOptions {
  /** At most; default: one a processor. */
  readonly threads: number | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Rejects with the signal's reason when it is aborted.
 * @param onResult called once a file, in any order.
 * @returns how many threads it took.
 */
export async function scanAll(
  tasks: readonly FileTask[],
  work: ScanWork,
  options: PoolOptions,
  onResult: (result: ScanResult) => void,
): Promise<number> {
  const { signal, onProgress } = options;
  signal?.throwIfAborted();
  const threads = threadsFor(tasks, options.threads);
  const shared = new SharedArrayBuffer(sharedSize(threads));
  const largestFirst = [...tasks].sort((a, b) => weight(b) - weight(a));
  const session: ScanSession = { tasks: largestFirst, work, shared, thread: 0 };
  const stop = () => {
    Atomics.store(new Int32Array(shared, 0, 2), ABORTED, 1);
  };
  signal?.addEventListener('abort', stop);
  const totalBytes = tasks.reduce((sum, { size }) => sum + size, 0);
  const report = () => onProgress?.({ doneBytes: Math.min(totalBytes, doneBytes(shared)), totalBytes });
  const timer = onProgress === undefined ? null : setInterval(report, PROGRESS_MS);
  const workers = Array.from({ length: threads - 1 }, (_, index) =>
    runWorker({ ...session, thread: index + 1 }, onResult),
  );
  try {
    const outcomes = await Promise.allSettled([scanShare(session, onResult), ...workers]);
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

/** What searching costs. Names are good enough to guess what is compressed. */
function weight({ path, size }: FileTask): number {
  return /\.(gz|z)$/i.test(path) ? size * INFLATION : size;
}

function doneBytes(shared: SharedArrayBuffer): number {
  return new Float64Array(shared, 8).reduce((sum, bytes) => sum + bytes, 0);
}

function runWorker(session: ScanSession, onResult: (result: ScanResult) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerUrl(), { workerData: session });
    worker.on('message', onResult);
    worker.once('error', (error) => reject(thrownByThread(error)));
    worker.once('exit', () => resolve());
  });
}

/** Beside this file in the bundle; started from the sources, in the bundle all the same. */
function workerUrl(): URL {
  const fromSources = import.meta.url.endsWith('.ts');
  return new URL(fromSources ? '../../../dist/log-scan-worker.js' : './log-scan-worker.js', import.meta.url);
}

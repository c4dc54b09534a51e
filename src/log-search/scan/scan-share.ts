// One thread's share of a search: takes file after file until none is left. Runs in every thread of workers.ts.
import { CardpollError } from '../../platform/errors.ts';
import { type IndexResult, indexFile } from '../index/index-file.ts';
import type { FileTask } from '../plan/plan.ts';
import { type TraceResult, traceFile } from '../trace/trace.ts';
import { type FileResult, type ScanControl, scanFile } from './scan-file.ts';
import type { ScanWork } from './scan-work.ts';

export type ScanResult =
  | { readonly kind: 'hits'; readonly result: FileResult }
  | { readonly kind: 'trace'; readonly result: TraceResult }
  | { readonly kind: 'index'; readonly result: IndexResult };

export interface ScanSession {
  readonly tasks: readonly FileTask[];
  readonly work: ScanWork;
  /** Int32: next task, whether to stop; then a Float64 a thread: bytes it is done with. */
  readonly shared: SharedArrayBuffer;
  readonly thread: number;
}

const NEXT = 0;
const ABORTED = 1;

export function sharedSize(threads: number): number {
  return 8 + threads * 8;
}

/** When it fails, the other threads stop too. */
export async function scanShare(session: ScanSession, onResult: (result: ScanResult) => void): Promise<void> {
  const flags = new Int32Array(session.shared, 0, 2);
  try {
    await scanTasks(session, flags, onResult);
  } catch (error) {
    Atomics.store(flags, ABORTED, 1);
    throw error;
  }
}

/** What a thread threw, as it was before it crossed the border, which takes the class away. */
export function thrownByThread(error: Error): CardpollError {
  const { kind, code, hint } = error as Partial<CardpollError>;
  const { message, cause = error } = error;
  if (error.name !== 'CardpollError' || kind === undefined || code === undefined) {
    return new CardpollError('internal', 'scan_failed', `log search failed: ${message}`, { cause });
  }
  return new CardpollError(kind, code, message, hint === undefined ? { cause } : { cause, hint });
}

async function scanTasks(
  { tasks, work, shared, thread }: ScanSession,
  flags: Int32Array,
  onResult: (result: ScanResult) => void,
): Promise<void> {
  const done = new Float64Array(shared, 8);
  const isStopped = () => Atomics.load(flags, ABORTED) === 1;
  for (let doneBytes = 0; !isStopped(); ) {
    const task = tasks[Atomics.add(flags, NEXT, 1)];
    if (task === undefined) return;
    const control: ScanControl = {
      isStopped,
      // A file that is searched a second time is read more than once, but is no larger for it.
      progress: (bytes) => {
        done[thread] = doneBytes + Math.min(bytes, task.size);
      },
    };
    onResult(await scanOne(task, work, control));
    doneBytes += task.size;
    done[thread] = doneBytes;
  }
}

async function scanOne(task: FileTask, work: ScanWork, control: ScanControl): Promise<ScanResult> {
  switch (work.kind) {
    case 'hits':
      return { kind: 'hits', result: await scanFile(task, work.query, work.runDirectory, control) };
    case 'trace':
      return { kind: 'trace', result: await traceFile(task, work.query, work.targets, control) };
    case 'index':
      return { kind: 'index', result: await indexFile(task, work.query, work.cacheDirectory, control) };
  }
}

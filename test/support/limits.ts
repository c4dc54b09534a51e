// What the leader and operators put into force in a live store, for tests that run neither. Nothing is claimed before.
import { DEFAULT_MAX_CONCURRENCY } from '../../src/domain/limits/operator-limits.ts';
import { TASK_TYPES, type TaskType } from '../../src/domain/task-type.ts';
import { openEmbeddedLiveStore } from '../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { WorkQueue } from '../../src/store/ports/live/work-queue.ts';

type Work = Pick<WorkQueue, 'inForce' | 'putInForce'>;

/** Each task type has its limit in force: the given one, else the one that it has, else the default. */
export async function setLimits(work: Work, limits: Partial<Record<TaskType, number>> = {}): Promise<void> {
  for (const taskType of TASK_TYPES) await setLimit(work, taskType, limits[taskType]);
}

export async function setLimit(work: Work, taskType: TaskType, limit?: number): Promise<void> {
  const seen = await work.inForce(taskType);
  const maxConcurrency = limit ?? seen.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY;
  await work.putInForce(taskType, seen, { maxConcurrency, leaderLimit: seen.leaderLimit, pause: 'kept' }, 0);
}

let pauses = 0;

/** As an operator's pause of record comes into force, in place of the one before. */
export async function pauseByOperator(
  work: Work,
  taskType: TaskType,
  {
    ms,
    id,
    reason,
    by,
  }: { readonly ms: number; readonly reason: string; readonly by: string; readonly id?: string },
): Promise<void> {
  const seen = await work.inForce(taskType);
  const maxConcurrency = seen.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY;
  pauses += 1;
  const pause = { id: id ?? String(pauses), lastsMs: ms, leftMs: ms, reason, by };
  await work.putInForce(taskType, seen, { maxConcurrency, leaderLimit: seen.leaderLimit, pause }, 0);
}

/** What an embedded store has that was just opened. */
const FRESH = {
  isInForce: false,
  maxConcurrency: null,
  leaderLimit: null,
  held: 0,
  pause: null,
  stored: [false, null, null, null],
};

/** The embedded live store with the default limits in force, as the leader leaves it. */
export function openLimitedLiveStore(options: Parameters<typeof openEmbeddedLiveStore>[0]): LiveStore {
  const live = openEmbeddedLiveStore(options);
  const wanted = { maxConcurrency: DEFAULT_MAX_CONCURRENCY, leaderLimit: null, pause: 'kept' } as const;
  // At once: nothing in it waits.
  for (const taskType of TASK_TYPES) void live.work.putInForce(taskType, FRESH, wanted, 0);
  return live;
}

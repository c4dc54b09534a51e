// Counts, for /metrics, what this instance claims from the work queue, how late that is, and what it settles. The
// workers and the result writer of the engine use the queue through `counted`; nothing else is counted.
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Meter } from '../../platform/meter.ts';
import type { Lane, Settlement, WorkQueue } from '../../store/ports/live/work-queue.ts';

/** Totals of one task type since the start of the instance. */
export interface WorkTotals {
  readonly taskType: TaskType;
  readonly claimed: Readonly<Record<Lane, number>>;
  readonly settled: Readonly<Record<Settlement['verdict'], number>>;
  /** Results that came after their lease had ended and were dropped; `settled` includes them. */
  readonly fenced: number;
}

type Work = Pick<WorkQueue, 'claim' | 'release' | 'pause' | 'onWork' | 'settle'>;

export class WorkCounts {
  readonly #totals = new Map(TASK_TYPES.map((taskType) => [taskType, zeros(taskType)]));

  constructor(private readonly meter: Pick<Meter, 'claimedLate'>) {}

  get totals(): readonly WorkTotals[] {
    return [...this.#totals.values()];
  }

  counted(work: Work): Work {
    return {
      claim: async (taskType, request) => {
        const claim = await work.claim(taskType, request);
        const { claimed } = this.#of(taskType);
        for (const { lane } of claim.items) claimed[lane] += 1;
        for (const lateMs of claim.lateMs) this.meter.claimedLate(taskType, lateMs);
        return claim;
      },
      settle: async (taskType, settlements, backoff) => {
        const result = await work.settle(taskType, settlements, backoff);
        const totals = this.#of(taskType);
        for (const { verdict } of settlements) totals.settled[verdict] += 1;
        totals.fenced += result.fenced;
        return result;
      },
      release: (taskType, items) => work.release(taskType, items),
      pause: (taskType, request) => work.pause(taskType, request),
      onWork: (taskType, listener) => work.onWork(taskType, listener),
    };
  }

  #of(taskType: TaskType) {
    return this.#totals.get(taskType) ?? zeros(taskType);
  }
}

function zeros(taskType: TaskType) {
  return {
    taskType,
    claimed: { schedule: 0, retry: 0, manual: 0 },
    settled: { done: 0, failed: 0, returned: 0, early: 0 },
    fenced: 0,
  };
}

// Concurrency limits per task type: read, set, reset the running count. Used by the admin API. The records keep the
// limits for good, the live store holds those in force; workers read them there with every claim.
import { MAX_CONCURRENCY_BOUNDS } from '../domain/health.ts';
import { TASK_TYPES, type TaskType } from '../domain/task-type.ts';
import type { LiveStore, QueueCounts } from '../store/live-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { requireWithin } from './bounds.ts';

export interface ConcurrencyLimit {
  readonly taskType: TaskType;
  readonly maxConcurrency: number;
  /** Running now, fleet-wide. */
  readonly current: number;
}

export interface SlotReset {
  readonly taskType: TaskType;
  readonly previous: number;
  readonly current: number;
}

/** Counts of one task type with the limit in force filled in. */
export interface LimitedCounts extends QueueCounts {
  readonly taskType: TaskType;
  readonly maxConcurrency: number;
}

export class ConcurrencyOperations {
  constructor(
    private readonly live: LiveStore,
    private readonly records: RecordStore,
  ) {}

  async list(): Promise<ConcurrencyLimit[]> {
    const counts = await this.counts();
    return counts.map(({ taskType, maxConcurrency, inFlight }) => ({
      taskType,
      maxConcurrency,
      current: inFlight,
    }));
  }

  /**
   * Sets a limit for the whole fleet; in force with the next claim of every worker.
   * Throws `invalid` outside 1..100000, `unavailable`; after `unavailable` the call may be repeated.
   */
  async set(taskType: TaskType, maxConcurrency: number): Promise<ConcurrencyLimit> {
    requireWithin(MAX_CONCURRENCY_BOUNDS, { maxConcurrency });
    await this.records.configs.setConcurrency(taskType, maxConcurrency);
    await this.live.work.setMaxConcurrency(taskType, maxConcurrency);
    const { inFlight } = await this.live.work.counts(taskType);
    return { taskType, maxConcurrency, current: inFlight };
  }

  /** Clears the running count (specification, section 4); whoever still holds a slot is fenced. */
  async reset(taskType: TaskType): Promise<SlotReset> {
    return { taskType, ...(await this.live.work.resetSlots(taskType)) };
  }

  /** What the live store counts, in order of TASK_TYPES. The durable limit stands in where none is in force yet. */
  async counts(): Promise<LimitedCounts[]> {
    const counted = await Promise.all(
      TASK_TYPES.map(async (taskType) => ({
        taskType,
        ...(await this.live.work.counts(taskType)),
      })),
    );
    if (counted.every(isLimited)) return counted;
    const durable = await this.records.configs.concurrency();
    return counted.map((one) => ({
      ...one,
      maxConcurrency: one.maxConcurrency ?? durable[one.taskType],
    }));
  }
}

function isLimited(counts: QueueCounts & { taskType: TaskType }): counts is LimitedCounts {
  return counts.maxConcurrency !== null;
}

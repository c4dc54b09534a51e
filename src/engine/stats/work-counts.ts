// Counts, for /metrics, what this instance claims from the work queue, how late that is, and what it settles. The workers and
// the result writer of the engine tell it.
import { perTaskType, type TaskType } from '../../domain/task-type.ts';
import type { Meter } from '../../platform/meter.ts';
import type { Claim, Lane, Settlement } from '../../store/ports/live/work-queue.ts';

/** Totals of one task type since the start of the instance. */
export interface WorkTotals {
  readonly taskType: TaskType;
  readonly claimed: Readonly<Record<Lane, number>>;
  readonly settled: Readonly<Record<Settlement['verdict'], number>>;
  /** Results that came after their lease had ended and were dropped; `settled` includes them. */
  readonly fenced: number;
}

export class WorkCounts {
  readonly #totals = perTaskType(zeros);

  constructor(private readonly meter: Pick<Meter, 'claimedLate'>) {}

  get totals(): readonly WorkTotals[] {
    return Object.values(this.#totals);
  }

  claimed(taskType: TaskType, { items, lateMs }: Pick<Claim, 'items' | 'lateMs'>): void {
    const { claimed } = this.#totals[taskType];
    for (const { lane } of items) claimed[lane] += 1;
    for (const ms of lateMs) this.meter.claimedLate(taskType, ms);
  }

  settled(taskType: TaskType, settlements: readonly Pick<Settlement, 'verdict'>[], fenced: number): void {
    const totals = this.#totals[taskType];
    for (const { verdict } of settlements) totals.settled[verdict] += 1;
    totals.fenced += fenced;
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

// Puts the recorded limits and pauses of operators into force in the live store. The leader checks every task type again and
// again (engine/limits/limits-in-force.ts); an operation does it at once for its own change.
import { missingInForce, type RecordedLimits, type WantedInForce } from '../../domain/limits/in-force.ts';
import { askPerTaskType, type TaskType } from '../../domain/task-type.ts';
import type { StoredInForce, WorkQueue } from './live/work-queue.ts';
import type { ConfigRecords } from './records/record-store.ts';

export interface InForceStores {
  readonly live: { readonly work: Pick<WorkQueue, 'inForce' | 'putInForce'> };
  readonly records: { readonly configs: Pick<ConfigRecords, 'recordedLimits'> };
}

/** A recorded value of a task type that is not in force. */
export interface NotInForce {
  readonly taskType: TaskType;
  readonly seen: StoredInForce;
  readonly wanted: WantedInForce;
}

/**
 * Compares the live store with the record. The live store is read first: a change by an operator in between is recorded before it
 * is in force, so the live store is never newer than the record.
 * @param ceiling `gateway.max_concurrency`; null: none, or the leader has divided it
 */
export async function lookAtInForce(
  { live, records }: InForceStores,
  ceiling: number | null,
): Promise<{ readonly record: Readonly<Record<TaskType, RecordedLimits>>; readonly missing: NotInForce[] }> {
  const seen = await askPerTaskType((taskType) => live.work.inForce(taskType));
  const record = await records.configs.recordedLimits();
  const wanted = missingInForce(record, seen, ceiling);
  const types = Object.keys(wanted) as TaskType[];
  const missing = types.flatMap((taskType) => {
    const { [taskType]: one } = wanted;
    return one === null ? [] : [{ taskType, seen: seen[taskType], wanted: one }];
  });
  return { record, missing };
}

/** Other operators and the leader may make the same change at the same time. */
const ATTEMPTS = 5;

/**
 * Puts the recorded values of these task types into force at once. If nothing is in force in this life of the live store, or
 * others are changing it, the leader does it within seconds.
 */
export async function bringIntoForce(stores: InForceStores, taskTypes: readonly TaskType[]): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { missing } = await lookAtInForce(stores, null);
    const due = missing.filter(({ taskType, seen }) => seen.isInForce && taskTypes.includes(taskType));
    if (due.length === 0) return;
    for (const { taskType, seen, wanted } of due)
      await stores.live.work.putInForce(taskType, seen, wanted, 0);
  }
}

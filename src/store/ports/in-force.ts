// Brings what operators have set, of record, into force in the live store. The leader looks at every task type again and again
// (engine/limits/limits-in-force.ts); an operation does it at once for what it has recorded.
import { missingInForce, type OfRecord, type WantedInForce } from '../../domain/limits/in-force.ts';
import { askPerTaskType, type TaskType } from '../../domain/task-type.ts';
import type { StoredInForce, WorkQueue } from './live/work-queue.ts';
import type { ConfigRecords } from './records/record-store.ts';

export interface InForceStores {
  readonly live: { readonly work: Pick<WorkQueue, 'inForce' | 'putInForce'> };
  readonly records: { readonly configs: Pick<ConfigRecords, 'ofRecord'> };
}

/** What is of record for a task type and not in force. */
export interface NotInForce {
  readonly taskType: TaskType;
  readonly seen: StoredInForce;
  readonly wanted: WantedInForce;
}

/**
 * Compares the live store with the record. The live store is read first: what an operator sets meanwhile is of record by the time it
 * is in force, so a difference with what was read is never newer than the record.
 * @param ceiling `gateway.max_concurrency`; null: none, or the leader has divided it
 */
export async function lookAtInForce(
  { live, records }: InForceStores,
  ceiling: number | null,
): Promise<{ readonly record: Readonly<Record<TaskType, OfRecord>>; readonly missing: NotInForce[] }> {
  const seen = await askPerTaskType((taskType) => live.work.inForce(taskType));
  const record = await records.configs.ofRecord();
  const wanted = missingInForce(record, seen, ceiling);
  const types = Object.keys(wanted) as TaskType[];
  const missing = types.flatMap((taskType) => {
    const { [taskType]: one } = wanted;
    return one === null ? [] : [{ taskType, seen: seen[taskType], wanted: one }];
  });
  return { record, missing };
}

/** Other operators and the leader may change the same at once. */
const ATTEMPTS = 5;

/**
 * Brings into force at once what was recorded for these task types. Where nothing is in force in this life of the live store, and where
 * others are at it, the leader does it within seconds.
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

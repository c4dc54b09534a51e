// Puts limits into force where none is: a live store that lost its data would use the built-in default instead of the
// operator's limit. At the start of an instance, and by the leader (leader-services.ts, initialiser.ts,
// concurrency-controller.ts). Never changes a limit that is set: see operations/limits/concurrency.ts.
import { sum } from '../../domain/numbers.ts';
import { askPerTaskType, TASK_TYPES } from '../../domain/task-type.ts';
import type { WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { ConfigRecords } from '../../store/ports/records/record-store.ts';

/** Puts the durable limit into force for every task type that has no limit in force. */
export async function seedLimits(
  work: Pick<WorkQueue, 'seedMaxConcurrency'>,
  records: Pick<ConfigRecords, 'concurrency'>,
): Promise<void> {
  const limits = await records.concurrency();
  for (const taskType of TASK_TYPES) await work.seedMaxConcurrency(taskType, limits[taskType]);
}

/**
 * Enforces the gateway's ceiling from the first claim: all types get equal shares until the leader divides by need. Limits that
 * were left in force by a leader with a higher ceiling, or without one, are lowered.
 */
export async function seedCeiling(
  work: Pick<WorkQueue, 'counts' | 'seedEffectiveConcurrency' | 'setEffectiveConcurrency'>,
  ceiling: number | null,
): Promise<void> {
  if (ceiling === null) return;
  const share = Math.max(1, Math.floor(ceiling / TASK_TYPES.length));
  for (const taskType of TASK_TYPES) await work.seedEffectiveConcurrency(taskType, share);
  const inForce = await askPerTaskType(
    async (taskType) => (await work.counts(taskType)).effectiveConcurrency,
  );
  if (sum(Object.values(inForce)) <= ceiling) return;
  for (const taskType of TASK_TYPES) {
    await work.setEffectiveConcurrency(taskType, Math.min(share, inForce[taskType]));
  }
}

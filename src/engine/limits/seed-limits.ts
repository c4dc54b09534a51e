// Puts limits into force where none is: a live store that lost its data would use the built-in default instead of the
// operator's limit, and no ceiling. At the start of an instance, and by the leader (leader-services.ts,
// concurrency-controller.ts). Never changes what an operator has set: see operations/limits/concurrency.ts.
import { sum } from '../../domain/numbers.ts';
import { askPerTaskType, TASK_TYPES } from '../../domain/task-type.ts';
import type { WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { ConfigRecords } from '../../store/ports/records/record-store.ts';

interface Limits {
  readonly work: Pick<
    WorkQueue,
    'counts' | 'seedMaxConcurrency' | 'seedEffectiveConcurrency' | 'setEffectiveConcurrency'
  >;
  readonly records: { readonly configs: Pick<ConfigRecords, 'concurrency'> };
  /** `gateway.max_concurrency`; null: none. */
  readonly ceiling: number | null;
}

/** Puts the ceiling into force, and the durable limit for every task type that has no limit in force. */
export async function seedLimits({ work, records, ceiling }: Limits): Promise<void> {
  const limits = await records.configs.concurrency();
  // First: what bounds all types together also bounds those whose limit is not set yet.
  if (ceiling !== null) await seedCeiling(work, ceiling);
  for (const taskType of TASK_TYPES) await work.seedMaxConcurrency(taskType, limits[taskType]);
}

/**
 * All types get equal shares until the leader divides by need. Limits that were left in force by a leader with a higher ceiling, or
 * without one, are lowered.
 */
async function seedCeiling(work: Limits['work'], ceiling: number): Promise<void> {
  const share = Math.max(1, Math.floor(ceiling / TASK_TYPES.length));
  for (const taskType of TASK_TYPES) await work.seedEffectiveConcurrency(taskType, share);
  const inForce = await askPerTaskType(async (taskType) => {
    const { leaderLimit, effectiveConcurrency } = await work.counts(taskType);
    return leaderLimit ?? effectiveConcurrency;
  });
  if (sum(Object.values(inForce)) <= ceiling) return;
  for (const taskType of TASK_TYPES) {
    await work.setEffectiveConcurrency(taskType, Math.min(share, inForce[taskType]));
  }
}

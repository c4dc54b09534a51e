// The three kinds of polling task (operations interface, section 1). Everything per-type in the product is keyed by
// these.

export const TASK_TYPES = ['realname', 'carddata', 'package'] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** Builds one value per task type. */
export function perTaskType<T>(make: (taskType: TaskType) => T): Record<TaskType, T> {
  return { realname: make('realname'), carddata: make('carddata'), package: make('package') };
}

/** Asks for one value per task type, all at once. */
export async function askPerTaskType<T>(
  ask: (taskType: TaskType) => Promise<T>,
): Promise<Record<TaskType, T>> {
  const entries = TASK_TYPES.map(async (taskType) => [taskType, await ask(taskType)] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<TaskType, T>;
}

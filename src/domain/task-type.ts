// THE table of task types (operations interface, section 1). All data per type is keyed by these; engine/tasks/ has the tasks
// that poll each type.
import type { InterfaceName } from './gateway-interface.ts';

interface TaskTypeFacts {
  /** The interface that it calls to poll a card. */
  readonly interface: InterfaceName;
  /** The exact log message of a poll, which other tools search for (operations interface, section 1.2). */
  readonly completed: string;
}

const TABLE = {
  realname: { interface: 'realname', completed: '实名检查完成' },
  carddata: { interface: 'flow', completed: '流量检查完成' },
  package: { interface: 'card_status', completed: '套餐检查完成' },
} as const satisfies Readonly<Record<string, TaskTypeFacts>>;

export type TaskType = keyof typeof TABLE;

export const TASKS: Readonly<Record<TaskType, TaskTypeFacts>> = TABLE;
export const TASK_TYPES = Object.keys(TABLE) as readonly TaskType[];

/** Builds one value per task type. */
export function perTaskType<T>(make: (taskType: TaskType) => T): Record<TaskType, T> {
  return Object.fromEntries(TASK_TYPES.map((taskType) => [taskType, make(taskType)])) as Record<TaskType, T>;
}

/** Builds one value per task type with concurrent requests. */
export async function askPerTaskType<T>(
  ask: (taskType: TaskType) => Promise<T>,
): Promise<Record<TaskType, T>> {
  const entries = TASK_TYPES.map(async (taskType) => [taskType, await ask(taskType)] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<TaskType, T>;
}

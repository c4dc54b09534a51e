// Divides the ceiling of one gateway among the task types that share it. Used by engine/limits/concurrency-controller.ts. Pure.
//
// Water-filling: each type gets an equal share until its need is met, and the rest goes to the others. Every type gets at
// least 1, so that a type without work now is not blocked when work arrives.
import { perTaskType, TASK_TYPES, type TaskType } from '../task-type.ts';

export type PerType = Readonly<Record<TaskType, number>>;

/**
 * @param needs calls that each type would have in flight without a limit.
 * @param present the shares in force; kept while every need is met, so that they do not change with every fluctuation of
 * the queue. null: there are none.
 * @returns shares whose sum is at most the ceiling (or 1 each, if it is smaller than the number of types).
 */
export function divideCeiling(ceiling: number, needs: PerType, present: PerType | null): PerType {
  if (present !== null) {
    const sum = TASK_TYPES.reduce((total, type) => total + present[type], 0);
    const short = TASK_TYPES.some((type) => needs[type] > present[type]);
    if (!short && sum <= ceiling && TASK_TYPES.every((type) => present[type] >= 1)) return present;
  }
  const shares = perTaskType(() => 0);
  let left = ceiling;
  const divide = (types: readonly TaskType[], most: (taskType: TaskType) => number) => {
    types.forEach((type, i) => {
      const share = Math.min(most(type), Math.ceil(left / (types.length - i)));
      shares[type] += share;
      left -= share;
    });
  };
  // In the order of their needs: what a type leaves of its equal share goes to the types that need more.
  divide(
    [...TASK_TYPES].sort((a, b) => needs[a] - needs[b]),
    (type) => Math.max(1, needs[type]),
  );
  divide(TASK_TYPES, () => left);
  return perTaskType((type) => Math.max(1, shares[type]));
}

/**
 * The limits that may be granted now. A share is lowered at once and raised only by what the others no longer use: calls
 * in flight above a lowered share still count, so the gateway never gets more than the ceiling.
 * @param inForce limits in force, lowered ones already at their target.
 */
export function grantWithin(ceiling: number, targets: PerType, inForce: PerType, inFlight: PerType): PerType {
  const granted = { ...inForce };
  let room = TASK_TYPES.reduce((left, type) => left - Math.max(inForce[type], inFlight[type]), ceiling);
  for (const type of TASK_TYPES) {
    const held = Math.max(inForce[type], inFlight[type]);
    granted[type] = Math.max(inForce[type], Math.min(targets[type], held + Math.max(0, room)));
    room -= Math.max(0, granted[type] - held);
  }
  return granted;
}

// Divides the ceiling of one gateway among the task types that share it. Used by engine/limits/concurrency-controller.ts. Pure.
//
// Water-filling: everybody gets the same until his need is met, what he leaves goes to the others. Nobody gets less
// than 1, whatever he needs, so that a type that has nothing to do now is not shut out when it has.
import { perTaskType, TASK_TYPES, type TaskType } from '../task-type.ts';

export type PerType = Readonly<Record<TaskType, number>>;

/**
 * @param needs calls each type would have in flight if nothing held it back.
 * @param present the shares in force; kept as they are while nobody is short, so that they do not follow every breath
 * of the queue. null: there are none.
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
  let open = [...TASK_TYPES];
  for (;;) {
    const fair = Math.max(1, Math.floor(left / open.length));
    const modest = open.filter((type) => needs[type] <= fair);
    for (const type of modest) {
      shares[type] = Math.max(1, needs[type]);
      left -= shares[type];
    }
    open = open.filter((type) => !modest.includes(type));
    if (modest.length === 0 || open.length === 0) break;
  }
  // Those who need more than there is get the same; where nobody does, whoever comes first may have what is left.
  const takers = open.length > 0 ? open : TASK_TYPES;
  takers.forEach((type, i) => {
    const equal = Math.floor((left + takers.length - 1 - i) / takers.length);
    shares[type] = Math.max(1, shares[type] + Math.max(0, equal));
  });
  return shares;
}

/**
 * What may be granted just now. A share is lowered at once and raised only by what the others no longer use: calls in
 * flight over a lowered share still count, so the gateway never sees more than the ceiling.
 * @param inForce limits in force, lowered ones already at their target.
 */
export function grantWithin(ceiling: number, targets: PerType, inForce: PerType, inFlight: PerType): PerType {
  const granted = { ...inForce };
  let room = TASK_TYPES.reduce((left, type) => left - Math.max(inForce[type], inFlight[type]), ceiling);
  for (const type of TASK_TYPES) {
    const held = Math.max(inForce[type], inFlight[type]);
    if (targets[type] <= inForce[type]) continue;
    if (room <= 0) break;
    granted[type] = Math.max(inForce[type], Math.min(targets[type], held + room));
    room -= Math.max(0, granted[type] - held);
  }
  return granted;
}

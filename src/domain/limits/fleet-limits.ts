// The limits of all task types together: the gateway's capacity, and how the types share its ceiling. Used by the leader
// (engine/limits/concurrency-controller.ts) once a second. Pure: time is passed in.
import { perTaskType, TASK_TYPES, type TaskType } from '../task-type.ts';
import type { EffectiveLimit } from './effective-limit.ts';
import type { FleetTick, Situation } from './fleet-tick.ts';
import type { StrainTrials } from './strain-trials.ts';

interface Limit extends Pick<Situation, 'configured' | 'inForce'> {
  readonly taskType: TaskType;
  readonly limit: EffectiveLimit;
  /** The counts of the second to judge; null: not counted. A type without a tick still gets the result of its trial. */
  readonly tick: FleetTick | null;
}

interface JudgedLimit extends Limit {
  readonly tick: FleetTick;
}

/**
 * The rules of flow control together: the strain is judged for all task types, then each limit on its own.
 * @param onChange gets why a limit changed.
 */
export function judgeLimits(
  strain: StrainTrials,
  limits: readonly Limit[],
  nowMs: number,
  onChange: (taskType: TaskType, reason: string) => void,
): void {
  const judged = limits.filter((one): one is JudgedLimit => one.tick !== null);
  for (const verdict of strain.observe(judged, nowMs)) {
    limits.find(({ taskType }) => taskType === verdict.taskType)?.limit.obey(verdict, nowMs);
    onChange(verdict.taskType, verdict.reason);
  }
  if (strain.isTrying) return;
  const usedUp = judged.filter(({ tick }) => tick.limitReached);
  const sum = usedUp.reduce((total, { inForce }) => total + inForce, 0);
  const change = (one: JudgedLimit, make: (situation: Situation) => string | null) => {
    const { taskType, configured, inForce } = one;
    const fairLimit = usedUp.length === 0 ? inForce : sum / usedUp.length;
    const strained = strain.isStrained(taskType, nowMs);
    const reason = make({ configured, inForce, nowMs, fairLimit, strained });
    if (reason !== null) onChange(taskType, reason);
  };
  for (const one of judged) change(one, (situation) => one.limit.observe(one.tick, situation));
  if (!judged.some(({ limit }) => limit.wantsTrial)) return;
  for (const one of judged) change(one, (situation) => one.limit.joinTrial(situation));
}

export type PerType = Readonly<Record<TaskType, number>>;

/**
 * Divides the ceiling of one gateway among the task types that share it. Water-filling: each type gets an equal share until
 * its need is met, and the rest goes to the others. Every type gets at least 1, so that a type without work now is not
 * blocked when work arrives.
 * @param needs calls that each type would have in flight without a limit.
 * @param present the shares in force; kept while every need is met, so that they do not change with every fluctuation of
 * the queue.
 * @returns shares whose sum is at most the ceiling (or 1 each, if it is smaller than the number of types).
 */
export function divideCeiling(ceiling: number, needs: PerType, present: PerType): PerType {
  const sum = TASK_TYPES.reduce((total, type) => total + present[type], 0);
  if (sum <= ceiling && TASK_TYPES.every((type) => present[type] >= Math.max(1, needs[type]))) return present;
  const shares = perTaskType(() => 0);
  let left = ceiling;
  const divide = (types: readonly TaskType[], most: (taskType: TaskType) => number) => {
    types.forEach((type, i) => {
      const share = Math.min(most(type), Math.ceil(left / (types.length - i)));
      shares[type] += share;
      left -= share;
    });
  };
  // In the order of their needs: the unused part of a type's equal share goes to the types that need more.
  divide(
    [...TASK_TYPES].sort((a, b) => needs[a] - needs[b]),
    (type) => Math.max(1, needs[type]),
  );
  divide(TASK_TYPES, () => left);
  return perTaskType((type) => Math.max(1, shares[type]));
}

/**
 * The limits that may be granted now. A share is lowered at once and raised only by the amount that the others no longer use:
 * their calls in flight, and those that they may begin before their own limit is lowered, still count. So the gateway never gets
 * more than the ceiling, in whatever order the limits are set.
 */
export function grantWithin(ceiling: number, targets: PerType, inForce: PerType, inFlight: PerType): PerType {
  const held = perTaskType((type) => Math.max(inForce[type], inFlight[type]));
  let room = Math.max(
    0,
    TASK_TYPES.reduce((left, type) => left - held[type], ceiling),
  );
  return perTaskType((type) => {
    const granted = Math.min(targets[type], held[type] + room);
    room -= Math.max(0, granted - held[type]);
    return granted;
  });
}

import { sum } from '../../../src/domain/numbers.ts';
import { TASK_TYPES, TASKS, type TaskType } from '../../../src/domain/task-type.ts';
import type { WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import type { Invariant } from '../invariant.ts';
import { LIMIT, type World } from '../world.ts';

/** After an operator has an answer. */
const WITHIN_MS = 5_000;
/** A claimed card is called within its lease. */
const CALLED_WITHIN_MS = 15_000;
/** What is left of a pause that is not put back after a loss, and how far clocks may differ. */
const NEARLY_OVER_MS = 15_000;
/** A leader is found, and has looked. */
const CALM_MS = 20_000;

export const inForce: Invariant = {
  name: 'in force',
  says: 'What operators have paused is not polled, and after seconds without a fault limits and pauses are as they set them, whatever the live store has lost.',
  watch: (world, check) => {
    const typeOf = new Map<string, TaskType>(TASK_TYPES.map((type) => [TASKS[type].interface, type]));
    let troubledAt = 0;
    const pausedFor = (type: TaskType): number => {
      const state = world.pauses.get(type);
      const isCertain = state?.isPaused === true && world.lastStep < state.since && world.skewMs.live === 0;
      return isCertain && state.until - world.time.now > NEARLY_OVER_MS ? world.time.now - state.since : 0;
    };
    const compare = async (type: TaskType): Promise<number> => {
      const counts = await world.live.work.counts(type);
      check(counts.inForce, () => `nothing is in force for ${type}`);
      const limit = world.limits.has(type) ? world.limits.get(type)?.limit : LIMIT;
      const { maxConcurrency } = counts;
      if (limit !== undefined)
        check(maxConcurrency === limit, () => `the limit of ${type} is ${maxConcurrency}, not ${limit}`);
      return counts.effectiveConcurrency;
    };
    return {
      store: {
        'live.work.claim': ({ instance, args: [type], answer }) => {
          const { items } = answer as { items: readonly WorkItem[] };
          const agoMs = pausedFor(type as TaskType);
          if (agoMs === 0) return;
          check(
            items.length === 0 || agoMs <= WITHIN_MS,
            () => `${instance} claims ${items.length} of ${type}, which was paused ${agoMs} ms ago`,
          );
        },
      },
      gateway: {
        called: ({ name, iccid, instance }) => {
          const type = typeOf.get(name);
          // After a stop the status is asked for.
          if (type === undefined || name === 'card_status') return;
          const agoMs = pausedFor(type);
          check(
            agoMs <= CALLED_WITHIN_MS,
            () => `${instance} polls ${type} of ${iccid}, which was paused ${agoMs} ms ago`,
          );
        },
      },
      now: async () => {
        if (isTroubled(world)) troubledAt = world.time.now;
        if (world.time.now - lastTrouble(world, troubledAt) < CALM_MS) return;
        const shares = await Promise.all(TASK_TYPES.map(compare));
        const ceiling = world.settings.ceiling ?? Number.POSITIVE_INFINITY;
        check(sum(shares) <= ceiling, () => `${sum(shares)} calls may be made, the ceiling is ${ceiling}`);
        const paused = (await world.live.work.pauses()).filter(({ source }) => source === 'operator');
        for (const type of TASK_TYPES) {
          const isPaused = paused.some(({ taskType }) => taskType === type);
          const state = world.pauses.get(type);
          if (state === null || (state !== undefined && world.time.now - state.since < WITHIN_MS)) continue;
          if (pausedFor(type) > 0) check(isPaused, () => `${type} is not paused`);
          else if (state === undefined || state.until < world.time.now)
            check(!isPaused, () => `${type} is paused, which is over`);
        }
      },
    };
  },
};

export function isTroubled({ instances, skewMs }: World): boolean {
  return (
    Math.abs(skewMs.live) + Math.abs(skewMs.records) > 0 ||
    instances.length === 0 ||
    instances.some(({ state, skewMs: skew, isAway }) => state !== 'up' || skew !== 0 || isAway)
  );
}

export function lastTrouble({ instances, lastLoss, lastStep, lastReturn }: World, seen: number): number {
  const ways = instances.flatMap(({ troubledAt, recordsTroubledAt, bornAt }) => [
    troubledAt,
    recordsTroubledAt,
    bornAt,
  ]);
  return Math.max(seen, lastLoss, lastStep, lastReturn.at, ...ways);
}

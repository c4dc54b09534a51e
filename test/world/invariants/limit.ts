import { TASK_TYPES, TASKS, type TaskType } from '../../../src/domain/task-type.ts';
import type { Call } from '../gateway.ts';
import type { Invariant } from '../invariant.ts';
import { mostCalls, type Outside } from '../outside.ts';

/** After a stop or resume its effect is asked for. */
const ASKED_AFTER_MS = 15_000;

export const limit: Invariant<Outside> = {
  name: 'limit',
  says: 'The gateway never has more polls of a task type in flight than its limit, nor of all together than its ceiling.',
  watch: (world, check) => {
    const { gateway } = world;
    const ceiling = world.settings.ceiling ?? Number.POSITIVE_INFINITY;
    const typeOf = new Map<string, TaskType>(TASK_TYPES.map((type) => [TASKS[type].interface, type]));
    const changed = new Map<string, number>();
    const isPoll = ({ name, iccid, at }: Call) =>
      typeOf.has(name) && at - (changed.get(iccid) ?? Number.NEGATIVE_INFINITY) > ASKED_AFTER_MS;
    // A follow-up that waits for the rate has given its slot back, and asks the status again.
    const mayHoldSlot = ({ name }: Call) =>
      world.settings.rate === null || (typeOf.has(name) && name !== 'card_status');
    return {
      gateway: {
        called: (call) => {
          const { name, iccid } = call;
          if (name === 'stop' || name === 'start') changed.set(iccid, world.time.now);
          const underWay = [...gateway.inFlight].filter(({ forgiven }) => !forgiven);
          // Once more by claims that nothing counts any more.
          const times = world.hasLostClaims ? 2 : 1;
          const holdSlots = underWay.filter(mayHoldSlot).length;
          check(
            holdSlots <= times * ceiling,
            () => `${holdSlots} calls in flight, the ceiling is ${ceiling}`,
          );
          if (!isPoll(call) || !mayHoldSlot(call)) return;
          const calls = underWay.filter((one) => one.name === name && isPoll(one)).length;
          const type = typeOf.get(name) as TaskType;
          const limit = mostCalls(world, type);
          check(calls <= times * limit, () => `${calls} polls of ${type} in flight, the limit is ${limit}`);
        },
      },
    };
  },
};

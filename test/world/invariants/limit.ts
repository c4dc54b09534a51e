import { TASK_TYPES, TASKS } from '../../../src/domain/task-type.ts';
import type { Invariant } from '../invariant.ts';
import { LIMIT } from '../world.ts';

export const limit: Invariant = {
  name: 'limit',
  says: 'The gateway never has more calls of a task type in flight than its limit.',
  watch: ({ gateway }, check) => {
    const polled = new Set<string>(TASK_TYPES.map((type) => TASKS[type].interface));
    return {
      gateway: {
        called: ({ name }) => {
          if (!polled.has(name) || name === 'card_status') return;
          const calls = [...gateway.inFlight].filter((call) => call.name === name && !call.forgiven).length;
          check(calls <= LIMIT, () => `${calls} calls of ${name} in flight, the limit is ${LIMIT}`);
        },
      },
    };
  },
};

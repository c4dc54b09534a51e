import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { ask, type Fault, insist, lasting } from '../../fault.ts';
import { ACTOR, LIMIT } from '../../world.ts';

export const limits: Fault = {
  name: 'limit lowered',
  begin(world, draw) {
    const taskType = draw.oneOf(TASK_TYPES);
    // Two operators who set one limit at once could not say which is in force.
    if (world.limits.has(taskType)) return null;
    const lowered = draw.between(1, LIMIT / 2);
    const ms = draw.between(20_000, 120_000);
    const set = async (limit: number, asked: typeof ask | typeof insist) => {
      world.limits.set(taskType, null);
      const answer = await asked(world, draw, `limit ${limit}`, ({ concurrency }) =>
        concurrency.set(ACTOR, taskType, limit, null),
      );
      return answer !== null;
    };
    const low = set(lowered, ask).then((isSet) => {
      if (isSet) world.limits.set(taskType, { limit: lowered, since: world.time.now });
    });
    lasting(world, ms, () => {
      void low.then(() => set(LIMIT, insist)).then(() => world.limits.delete(taskType));
    });
    return `${taskType} may have ${lowered} calls at a time for ${ms} ms`;
  },
};

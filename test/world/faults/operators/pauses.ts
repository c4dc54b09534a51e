import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { ask, type Fault, insist } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

export const pauses: Fault = {
  name: 'polling changed',
  begin(world, draw) {
    const what = draw.oneOf(['pause', 'disable', 'reset', 'rebuild'] as const);
    const taskType = draw.oneOf(TASK_TYPES);
    const seconds = draw.between(5, 60);
    const configId = draw.between(1, 4);
    const status = (of: 0 | 1, asked: typeof ask | typeof insist) =>
      asked(world, draw, `config ${configId}`, ({ configs }) =>
        configs.update(ACTOR, configId, { status: of }, null),
      );
    void ask(world, draw, what, async ({ pauses: all, concurrency, init }) => {
      if (what === 'pause') await all.pause(ACTOR, { taskType, seconds, reason: 'as drawn' });
      if (what === 'reset') {
        world.forgive(taskType);
        await concurrency.reset(ACTOR, taskType);
        world.forgive(taskType);
      }
      if (what === 'rebuild') await init.rebuild(ACTOR);
    });
    if (what === 'disable')
      void (async () => {
        await status(0, ask);
        await world.time.sleep(seconds * 1_000);
        await status(1, insist);
      })();
    return what === 'disable'
      ? `config ${configId} is off for ${seconds} s`
      : `${what} ${taskType} ${seconds} s`;
  },
};

import { TASK_TYPES, type TaskType } from '../../../../src/domain/task-type.ts';
import { ask, type Fault, insist } from '../../fault.ts';
import type { Random } from '../../virtual/random.ts';
import { ACTOR, type World } from '../../world.ts';

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
    if (what === 'pause') {
      // Two operators at once could not say what is in force.
      if (world.pauses.get(taskType) === null) return null;
      void pause(world, draw, taskType, seconds);
    } else if (what !== 'disable') {
      void ask(world, draw, what, async ({ concurrency, init }) => {
        if (what === 'reset') {
          world.forgive(taskType);
          await concurrency.reset(ACTOR, taskType);
          world.forgive(taskType);
        }
        if (what === 'rebuild') await init.rebuild(ACTOR);
      });
    } else
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

/** Ended early, or when it is not known whether it began. */
export async function pause(
  world: World,
  draw: Random,
  taskType: TaskType,
  seconds: number,
  mayEndEarly = true,
): Promise<void> {
  world.pauses.set(taskType, null);
  const until = world.time.now + seconds * 1_000;
  const answer = await ask(world, draw, 'pause', ({ pauses: all }) =>
    all.pause(ACTOR, { taskType, seconds, reason: 'as drawn' }),
  );
  if (answer !== null) world.pauses.set(taskType, { isPaused: true, since: world.time.now, until });
  if (answer !== null && (!mayEndEarly || draw.chance(0.5))) return;
  const mine = world.pauses.get(taskType);
  await world.time.sleep(draw.below(seconds * 1_000));
  if (world.pauses.get(taskType) !== mine) return;
  await endPause(world, draw, taskType);
}

export async function endPause(world: World, draw: Random, taskType: TaskType): Promise<void> {
  world.pauses.set(taskType, null);
  await insist(world, draw, 'resume', ({ pauses: all }) => all.resume(ACTOR, taskType));
  const { now } = world.time;
  world.pauses.set(taskType, { isPaused: false, since: now, until: now });
}

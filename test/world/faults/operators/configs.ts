import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { CARRIERS } from '../../cards.ts';
import { ask, insist, lasting, type OwnFault } from '../../fault.ts';
import type { Random } from '../../virtual/random.ts';
import { ACTOR, type World } from '../../world.ts';

/** So many there are from the start. */
const FIRST_CONFIGS = 4;
/** Once a second walk round the cards may begin while the first one is under way. */
const APART_MS = 6_000;

export const configs: OwnFault = {
  name: 'configs created, changed, deleted',
  share: 0.45,
  most: 3,
  begin(world, draw) {
    const count = draw.between(1, 3);
    const name = `drawn ${draw.below(1_000_000)}`;
    const ms = draw.between(30_000, 200_000);
    const stay = draw.chance(0.5);
    const changes = Array.from({ length: count }, () => ({
      afterMs: draw.below(APART_MS),
      config: drawnConfig(name, world, draw),
      next: draw.oneOf([
        'as it is',
        stay ? 'as it is' : 'disabled',
        'of less priority',
        'of another carrier',
      ] as const),
      nextMs: draw.between(5_000, 40_000),
    }));
    const begun = changes.map(async ({ afterMs, config, next, nextMs }) => {
      await world.time.sleep(afterMs);
      if (world.calmSince !== null) return;
      const made = await ask(world, draw, `config for carrier ${config.carrierId}`, (all) =>
        all.configs.create(ACTOR, config),
      );
      if (made === null || next === 'as it is') return;
      await world.time.sleep(nextMs);
      if (world.calmSince !== null) return;
      const carrierId = next === 'of another carrier' ? drawnCarrier(draw) : config.carrierId;
      const patch = {
        disabled: { status: 0 },
        'of less priority': { priority: -1 },
        'of another carrier': { carrierId },
      } as const;
      await ask(world, draw, `config ${made.id} ${next}`, (all) =>
        all.configs.update(ACTOR, made.id, patch[next], null),
      );
    });
    if (!stay)
      lasting(world, ms, () => {
        void Promise.all(begun).then(() => removeConfigs(world, draw, (config) => config.name === name));
      });
    const said = changes.map(
      ({ config, next }) => `${config.taskType} of carrier ${config.carrierId}, ${next}`,
    );
    return `${said.join('; ')}, ${stay ? 'for good' : `for ${ms} ms`}`;
  },
};

/** Until there are none of them. */
export async function removeConfigs(
  world: World,
  draw: Random,
  isGone: (config: PollingConfig) => boolean,
): Promise<void> {
  await insist(world, draw, 'configs removed', async ({ configs: all }: Operations) => {
    for (const { id } of (await all.list()).filter(isGone)) await all.remove(ACTOR, id);
    return true;
  });
}

/** Those that a record store has which went back in time. */
export function isDrawn({ id }: Pick<PollingConfig, 'id'>): boolean {
  return id > FIRST_CONFIGS;
}

function drawnConfig(name: string, { intervalSeconds }: World, draw: Random): Omit<PollingConfig, 'id'> {
  return {
    ...{ name, taskType: draw.oneOf(TASK_TYPES), cardCondition: 'any', carrierId: drawnCarrier(draw) },
    ...{ intervalSeconds, priority: draw.between(1, 3), status: 1 },
  };
}

function drawnCarrier(draw: Random): number {
  return draw.between(1, CARRIERS);
}

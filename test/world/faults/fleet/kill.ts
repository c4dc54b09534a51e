import type { Fault } from '../../fault.ts';

export const kill: Fault = {
  name: 'instance killed',
  weight: 2,
  begin(world, draw) {
    if (world.alive.length === 0) return null;
    const instance = draw.oneOf(world.alive);
    instance.dies = { calls: draw.between(1, 100), afterEffect: draw.chance(0.5) };
    return `${instance.id} will be killed at call ${instance.dies.calls} of a store`;
  },
};

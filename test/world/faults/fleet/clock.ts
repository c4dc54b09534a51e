import { type Fault, lasting } from '../../fault.ts';

export const clockOfInstance: Fault = {
  name: 'clock of an instance stepped',
  begin(world, draw) {
    if (world.alive.length === 0) return null;
    const instance = draw.oneOf(world.alive);
    const ms = draw.oneOf([-600_000, -5_000, 5_000, 600_000]);
    instance.skewMs += ms;
    lasting(world, draw.between(20_000, 200_000), () => {
      instance.skewMs -= ms;
    });
    return `the clock of ${instance.id} is set by ${ms} ms`;
  },
};

import { type Fault, lasting } from '../../fault.ts';

export const freeze: Fault = {
  name: 'instance frozen',
  begin(world, draw) {
    if (world.up.length === 0) return null;
    const instance = draw.oneOf(world.up);
    const ms = draw.oneOf([900, 3_000, 6_000, 20_000, 60_000]);
    instance.freeze();
    lasting(world, ms, () => instance.thaw());
    return `${instance.id} is frozen for ${ms} ms`;
  },
};

import { type Fault, lasting } from '../../fault.ts';
import { FAIR } from '../../gateway.ts';
import type { Outside } from '../../outside.ts';

export const slow: Fault<Outside> = {
  name: 'gateway slow',
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(10_000, 90_000);
    Object.assign(weather, { slowShare: draw.oneOf([0.05, 0.3, 1]), slowMs: draw.oneOf([2_000, 8_000]) });
    lasting(world, ms, () => Object.assign(weather, { slowShare: FAIR.slowShare, slowMs: FAIR.slowMs }));
    return `${weather.slowShare * 100} % of the calls take up to ${weather.slowMs} ms, for ${ms} ms`;
  },
};

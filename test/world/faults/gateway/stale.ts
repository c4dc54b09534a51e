import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const stale: Fault<Outside> = {
  name: 'gateway shows the readings of before',
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(10_000, 90_000);
    weather.stale = draw.oneOf([0.1, 0.5]);
    lasting(world, ms, () => {
      weather.stale = 0;
    });
    return `${weather.stale * 100} % of the answers are those of before, for ${ms} ms`;
  },
};

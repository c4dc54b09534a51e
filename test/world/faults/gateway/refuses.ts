import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const refuses: Fault<Outside> = {
  name: 'gateway refuses cards',
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(10_000, 90_000);
    weather.refused = draw.oneOf([0.05, 0.5, 1]);
    lasting(world, ms, () => {
      weather.refused = 0;
    });
    return `${weather.refused * 100} % of the calls are refused for ${ms} ms`;
  },
};

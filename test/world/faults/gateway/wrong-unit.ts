import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const wrongUnit: Fault<Outside> = {
  name: 'gateway shows another unit',
  weight: 0.5,
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(10_000, 120_000);
    weather.unit = draw.oneOf([1_024, 1 / 1_024]);
    lasting(world, ms, () => {
      weather.unit = 1;
    });
    return `usage is shown times ${weather.unit} for ${ms} ms`;
  },
};

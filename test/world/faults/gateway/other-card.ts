import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const otherCard: Fault<Outside> = {
  name: 'gateway answers for another card',
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(10_000, 90_000);
    weather.otherCard = draw.oneOf([0.1, 0.5, 1]);
    lasting(world, ms, () => {
      weather.otherCard = 0;
    });
    return `${weather.otherCard * 100} % of the answers are about another card, for ${ms} ms`;
  },
};

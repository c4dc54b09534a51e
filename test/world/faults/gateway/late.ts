import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const late: Fault<Outside> = {
  name: 'stops and resumes late',
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(10_000, 90_000);
    weather.late = draw.oneOf([0.1, 0.5, 1]);
    lasting(world, ms, () => {
      weather.late = 0;
    });
    return `${weather.late * 100} % of the stops and resumes have no answer and take effect later, for ${ms} ms`;
  },
};

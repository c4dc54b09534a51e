import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const throttles: Fault<Outside> = {
  name: 'gateway throttles',
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(5_000, 60_000);
    Object.assign(weather, {
      throttled: draw.oneOf([0.1, 0.5, 1]),
      retryAfterSeconds: draw.oneOf([null, 1, 20]),
    });
    lasting(world, ms, () => Object.assign(weather, { throttled: 0, retryAfterSeconds: null }));
    return `${weather.throttled * 100} % of the calls are answered with 429 for ${ms} ms, Retry-After ${weather.retryAfterSeconds}`;
  },
};

import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const loses: Fault<Outside> = {
  name: 'gateway loses calls',
  weight: 2,
  begin(world, draw) {
    const { weather } = world.gateway;
    const ms = draw.between(10_000, 90_000);
    const [lostBefore, lostAfter, silent] = [draw.next() * 0.3, draw.next() * 0.4, draw.next() * 0.2];
    Object.assign(weather, { lostBefore, lostAfter, silent });
    lasting(world, ms, () => Object.assign(weather, { lostBefore: 0, lostAfter: 0, silent: 0 }));
    const shares = [lostBefore, lostAfter, silent].map((share) => Math.round(share * 100));
    return `calls are lost before (${shares[0]} %) and after their effect (${shares[1]} %), or have no answer (${shares[2]} %), for ${ms} ms`;
  },
};

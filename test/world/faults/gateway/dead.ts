import { INTERFACE_NAMES } from '../../../../src/domain/gateway-interface.ts';
import { type Fault, lasting } from '../../fault.ts';
import type { Outside } from '../../outside.ts';

export const dead: Fault<Outside> = {
  name: 'gateway dead',
  begin(world, draw) {
    const ms = draw.between(3_000, 90_000);
    const names = draw.chance(0.3) ? INTERFACE_NAMES : [draw.oneOf(INTERFACE_NAMES)];
    const { dead: those } = world.gateway.weather;
    for (const name of names) those.add(name);
    lasting(world, ms, () => {
      for (const name of names) those.delete(name);
    });
    return `no answer of ${names.join(', ')} for ${ms} ms`;
  },
};

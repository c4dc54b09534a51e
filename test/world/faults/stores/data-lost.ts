import { type Fault, lasting } from '../../fault.ts';
import { triggers } from '../operators/triggers.ts';

/** As when an empty server takes over: for some time there is none. */
export const dataLost: Fault = {
  name: 'live data lost',
  begin(world, draw) {
    const hasTrigger = draw.chance(0.4);
    if (hasTrigger) void triggers.begin(world, draw);
    const awayMs = draw.oneOf([0, draw.below(3_000), draw.between(20_000, 60_000)]);
    const keepsLife = world.size.store === 'redis' && draw.chance(0.5);
    const cut = awayMs > 3_000 ? [...world.alive] : [];
    for (const { ways } of cut) ways.live.isCut = true;
    lasting(world, awayMs, () => {
      world.loseLiveData(keepsLife);
      for (const { ways } of cut) ways.live.isCut = false;
    });
    return `the live store is empty in ${awayMs} ms${cut.length > 0 ? ', and away until then' : ''}${keepsLife ? ', and the same server' : ''}${hasTrigger ? '; cards are triggered before' : ''}`;
  },
};

import { ask, type Fault, insist, lasting } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

export const modes: Fault = {
  name: 'mode observe',
  begin(world, draw) {
    const ms = draw.between(5_000, 60_000);
    const set = (mode: 'observe' | 'enforce', asked: typeof ask | typeof insist) => {
      world.mode = { mode: 'unknown', since: world.time.now };
      void asked(world, draw, `mode ${mode}`, async ({ stops }) => {
        await stops.setMode(ACTOR, mode, 'as drawn', null);
        world.mode = { mode, since: world.time.now };
        return mode;
      });
    };
    set('observe', ask);
    lasting(world, ms, () => set('enforce', insist));
    return `for ${ms} ms`;
  },
};

import { ask, type Fault, lasting } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

export const modes: Fault = {
  name: 'mode observe',
  begin(world, draw) {
    const ms = draw.between(5_000, 60_000);
    const set = (mode: 'observe' | 'enforce') => {
      world.mode = { mode: 'unknown', since: world.time.now };
      return ask(world, draw, `mode ${mode}`, async ({ stops }) => {
        await stops.setMode(ACTOR, mode, 'as drawn', null);
        world.mode = { mode, since: world.time.now };
        return mode;
      });
    };
    void set('observe');
    lasting(world, ms, () => {
      void (async () => {
        while ((await set('enforce')) === null) await world.time.sleep(1_000);
      })();
    });
    return `for ${ms} ms`;
  },
};

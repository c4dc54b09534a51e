import { cardsWith } from '../cards.ts';
import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';

const HOUR_MS = 3_600_000;
/** A stop is granted so long before its call ends. */
const CALL_MS = 15_000;

export const budget: Invariant<Outside> = {
  name: 'budget',
  says: 'No more stops take effect in an hour than the budget allows, but those that operators order or release.',
  watch: (world, check) => {
    const most = world.settings.stopsAnHour;
    const stopped = new Map<string, number>();
    const counting = new Set<number>();
    return {
      gateway: {
        called: ({ id, name, iccid }) => {
          if (name !== 'stop') return;
          const cards = cardsWith(world, iccid, world.time.now - CALL_MS);
          if (!cards.some(({ ordered, released }) => ordered || released)) counting.add(id);
        },
        // A call that was refused has stopped nobody, and its place is free again.
        tookEffect: ({ id, iccid }) => {
          if (!counting.delete(id)) return;
          const { now } = world.time;
          const { at: returnedAt, to } = world.lastReturn;
          // What the record store has lost, the budget has forgotten.
          const isForgotten = (at: number) => at >= to - CALL_MS && at <= returnedAt;
          for (const [one, at] of stopped)
            if (now - at >= HOUR_MS - CALL_MS || isForgotten(at)) stopped.delete(one);
          stopped.set(iccid, now);
          check(
            stopped.size <= most,
            () => `${stopped.size} cards are stopped in an hour, the budget is ${most}`,
          );
        },
      },
    };
  },
};

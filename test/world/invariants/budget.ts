import type { Invariant } from '../invariant.ts';

const HOUR_MS = 3_600_000;

export const budget: Invariant = {
  name: 'budget',
  says: 'No more cards are stopped in an hour than the budget allows, but those that operators order.',
  watch: (world, check) => {
    const most = world.settings.stops.maxPerHour.cards;
    const stopped = new Map<string, number>();
    return {
      gateway: {
        called: ({ name, iccid }) => {
          if (name !== 'stop' || world.cardOf.get(iccid)?.ordered === true) return;
          const { now } = world.time;
          for (const [one, at] of stopped) if (now - at >= HOUR_MS) stopped.delete(one);
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

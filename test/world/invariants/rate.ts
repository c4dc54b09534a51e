import type { Invariant } from '../invariant.ts';

/** A step of the live store's clock, or the loss of its data, may bring one more burst. */
const UNSETTLED_MS = 5_000;

export const rate: Invariant = {
  name: 'rate',
  says: 'The gateway counts at most rate times time and a burst of calls in any time, from all instances together.',
  watch: (world, check) => {
    const { rate: limit } = world.settings;
    if (limit === null) return {};
    const { perSecond, burst } = limit;
    let level = 0;
    let at = 0;
    return {
      gateway: {
        called: ({ isFirst }) => {
          if (!isFirst) return;
          const { now } = world.time;
          const isUnsettled = now - Math.max(world.lastLoss, world.lastStep) < UNSETTLED_MS;
          level = isUnsettled ? 0 : Math.max(0, level - ((now - at) * perSecond) / 1_000);
          at = now;
          level += 1;
          check(
            level <= burst + 1e-6,
            () => `${Math.ceil(level - burst)} calls more than ${perSecond} a second and a burst of ${burst}`,
          );
        },
      },
    };
  },
};

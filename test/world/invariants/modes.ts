import type { Invariant } from '../invariant.ts';

const IN_FORCE_WITHIN_MS = 1_000;

export const modes: Invariant = {
  name: 'modes',
  says: 'A second after mode observe was set, no card is stopped.',
  watch: (world, check) => ({
    gateway: {
      called: ({ name, iccid, instance }) => {
        if (name !== 'stop') return;
        const { mode, since } = world.mode;
        const agoMs = world.time.now - since;
        check(
          mode !== 'observe' || agoMs <= IN_FORCE_WITHIN_MS,
          () => `${instance} stops ${iccid}, ${agoMs} ms after mode observe`,
        );
      },
    },
  }),
};

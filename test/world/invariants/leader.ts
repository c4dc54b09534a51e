import type { Invariant } from '../invariant.ts';

/** A lease of 4 s may be held in the store that is gone. */
const LEASE_MS = 5_000;

export const leader: Invariant = {
  name: 'leader alone',
  says: 'No two instances believe that they lead.',
  watch: (world, check) => ({
    now: async () => {
      const { now } = world.time;
      if (now - world.lastLoss < LEASE_MS || now - world.lastStep < LEASE_MS) return;
      const leaders = world.up.filter(({ engine }) => engine.leads).map(({ id }) => id);
      check(leaders.length <= 1, () => `${leaders.join(' and ')} lead`);
    },
    atRest: async () => {
      const leaders = world.up.filter(({ engine }) => engine.leads).length;
      check(leaders === 1, () => `${leaders} instances lead when all is well`);
    },
  }),
};

import type { Invariant } from '../invariant.ts';

/** Of an instance: its loops, calls and waits. */
const RESTS_EACH = 200;

export const memory: Invariant = {
  name: 'memory bounded',
  says: 'What waits does not grow: rests, connections to the gateway, calls in flight.',
  watch: (world, check) => ({
    now: async () => {
      const most = RESTS_EACH * (world.instances.length + 5);
      check(world.time.sleepers <= most, () => `${world.time.sleepers} rests at once`);
      for (const { id, connections } of world.instances)
        check(connections.size <= 200, () => `${connections.size} connections of ${id}`);
    },
  }),
};

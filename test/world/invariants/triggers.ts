import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';

const WITHIN_MS = 240_000;

export const triggers: Invariant<Outside> = {
  name: 'triggers',
  says: 'Every manual trigger ends, and counts each of its cards once.',
  watch: (world, check) => ({
    atRest: async () => {
      if (world.time.now - (world.calmSince ?? 0) < WITHIN_MS) return;
      const rows = await world.store.sql<{
        triggerId: string;
        status: string;
        total: number;
        succeeded: number;
        failed: number;
      }>('select trigger_id, status, total, succeeded, failed from manual_triggers');
      for (const { triggerId, status, total, succeeded, failed } of rows) {
        const done = succeeded + failed;
        const isWhole = status === 'cancelled' ? done <= total : status === 'completed' && done === total;
        check(isWhole, () => `trigger ${triggerId} is ${status}: ${succeeded} + ${failed} of ${total}`);
      }
    },
  }),
};

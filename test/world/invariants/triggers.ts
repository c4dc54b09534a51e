import { ask } from '../fault.ts';
import type { Invariant } from '../invariant.ts';
import { ACTOR } from '../world.ts';

const WITHIN_MS = 240_000;
/** Of a drill. */
const SOON_MS = 45_000;
const CARDS = 20;

export const triggers: Invariant = {
  name: 'triggers',
  says: 'Every manual trigger ends, within seconds once all is well, and counts each of its cards once.',
  watch: (world, check) => ({
    drill: async () => {
      const draw = world.random.stream('triggers');
      // Others are of the drill of retries.
      const most = Math.ceil(world.size.cards / 2);
      const ids = [...new Set(Array.from({ length: CARDS }, () => draw.between(1, most)))];
      for (const id of ids) world.triggered.add(id);
      const made = await ask(world, draw, 'trigger', ({ triggers: all }) =>
        all.batch(ACTOR, 'realname', ids),
      );
      if (made === null) return;
      await world.time.sleep(SOON_MS);
      const [row] = await world.store.sql<{ status: string }>(
        `select status from manual_triggers where trigger_id = '${made.triggerId}'`,
      );
      check(
        row?.status === 'completed',
        () => `trigger ${made.triggerId} is ${row?.status} after ${SOON_MS} ms`,
      );
    },
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

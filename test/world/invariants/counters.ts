import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import type { Invariant } from '../invariant.ts';
import { mostCalls } from '../outside.ts';

/** Retries come within a minute. */
const SETTLED_MS = 180_000;

export const counters: Invariant = {
  name: 'counters',
  says: 'No more slots are held than the limit allows, and none, no retry and no manual entry is left over once all is well.',
  watch: (world, check) => ({
    now: async () => {
      for (const type of TASK_TYPES) {
        const { live } = await world.live.work.runningCount(type);
        const limit = mostCalls(world, type);
        check(live <= limit, () => `${live} slots of ${type} are held, the limit is ${limit}`);
      }
    },
    atRest: async () => {
      if (world.time.now - (world.calmSince ?? 0) < SETTLED_MS) return;
      for (const type of TASK_TYPES) {
        const { retryDue, backoff, manualLength, queueLength } = await world.live.work.counts(type);
        const left = retryDue + backoff + manualLength;
        // The ring of a card that fails for good makes it due for a retry.
        const unknown = [...world.cards.values()].filter(({ sim }) => sim.isUnknown);
        check(
          left <= unknown.length,
          () => `${retryDue + backoff} retries and ${manualLength} manual entries of ${type} are left`,
        );
        check(queueLength < world.cards.size / 4, () => `${queueLength} cards are in the queue of ${type}`);
        const { shown, held, live } = await world.live.work.runningCount(type);
        check(
          held === live && Number(shown ?? 0) === held,
          () => `${held} slots of ${type} are held, ${live} live, ${shown} shown`,
        );
      }
    },
  }),
};

import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import type { Invariant } from '../invariant.ts';

/** Clocks of the stores agree if they differ by less than 2 s; a call waits for its turn after it was dated. */
const EARLIER_MS = 8_000;
const LATER_MS = 3_500;
/** An instance looks at the clock of the records every five seconds. */
const LOOKED_WITHIN_MS = 30_000;
const CALLS_KEPT = 6;

export const dated: Invariant = {
  name: 'dated',
  says: 'A reading is dated by the time at which the gateway was asked, whatever the clock of the live store says.',
  watch: (world, check) => {
    const asked = new Map<string, number[]>();
    return {
      gateway: {
        called: ({ name, iccid }) => {
          if (name !== 'flow') return;
          const times = asked.get(iccid) ?? [];
          asked.set(iccid, [...times, world.time.wall].slice(-CALLS_KEPT));
        },
      },
      store: {
        'records.results.write': ({ args: [outcomes] }) => {
          const isSettled = world.time.now - world.lastRecordsStep > LOOKED_WITHIN_MS;
          if (!isSettled || world.skewMs.records !== 0) return;
          for (const { cardId, iccid, usage } of outcomes as readonly PollOutcome[]) {
            const times = asked.get(iccid ?? '');
            if (usage === undefined || times === undefined) continue;
            const { readAtMs } = usage.next;
            // A reading that is a suspicion leaves the time of the one before.
            if (readAtMs === usage.basedOnReadAtMs) continue;
            const agoMs = times.map((at) => at - readAtMs);
            check(
              agoMs.some((ms) => ms <= EARLIER_MS && ms >= -LATER_MS),
              () => `a reading of card ${cardId} is dated ${agoMs.join(', ')} ms before its calls`,
            );
          }
        },
      },
    };
  },
};

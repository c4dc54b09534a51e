import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import type { Invariant } from '../invariant.ts';

export const flags: Invariant = {
  name: 'flags',
  says: 'What the gateway shows of a SIM is not recorded of a card that has another SIM by then.',
  watch: (world, check) => ({
    store: {
      'records.results.write': ({ args: [outcomes] }) => {
        if (world.lastReturn.at > Number.NEGATIVE_INFINITY) return;
        for (const { cardId, iccid, realNameVerified } of outcomes as readonly PollOutcome[]) {
          const card = world.cards.get(cardId);
          if (realNameVerified === undefined || iccid === undefined || card?.sim.iccid === iccid) continue;
          const text = `select iccid, real_name_verified from cards where card_id = ${cardId}`;
          void world.store.sql<{ iccid: string; realNameVerified: boolean }>(text).then(([row]) => {
            if (row === undefined || row.iccid === iccid) return;
            const { verified } = world.gateway.sims.get(row.iccid) ?? {};
            // The former SIM was shown otherwise before, or nothing would have been written.
            check(
              verified === realNameVerified || row.realNameVerified !== realNameVerified,
              () =>
                `card ${cardId} is recorded as ${realNameVerified ? '' : 'not '}verified, as its former SIM is`,
            );
          });
        }
      },
    },
  }),
};

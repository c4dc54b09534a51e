import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import type { Invariant } from '../invariant.ts';

export const months: Invariant = {
  name: 'months',
  says: 'No card is stopped for a month that it has left, and a month that begins resumes none that an operator stopped.',
  watch: (world, check) => {
    /** The month of the latest reading that was written, by card. */
    const latest = new Map<number, string>();
    const first = world.calendar.monthOf(world.nature.epochMs);
    return {
      store: {
        'records.results.write': ({ args: [outcomes] }) => {
          for (const { cardId, usage } of outcomes as readonly PollOutcome[]) {
            const { month = '' } = usage?.next ?? {};
            if (month > (latest.get(cardId) ?? '')) latest.set(cardId, month);
          }
        },
        'records.stops.claim': ({ instance, args: [asked], answer }) => {
          const { cardId } = asked as { cardId: number };
          const { state, month } = answer as { state: string; month?: string };
          if (month === undefined || world.lastReturn.at > Number.NEGATIVE_INFINITY) return;
          const after = latest.get(cardId) ?? '';
          if (after <= month) return check(true, () => '');
          const text = `select u.closed, s.authority from card_usage u left join card_stops s using (card_id, month)
            where card_id = ${cardId} and month = '${month}-01'`;
          void world.store
            .sql<{ closed: boolean; authority: string | null }>(text)
            .then(([row]) =>
              check(
                row === undefined || !row.closed || row.authority === 'operator',
                () =>
                  `${instance} may stop card ${cardId} (${state}) for ${month}, which ended with a reading of ${after}`,
              ),
            );
        },
      },
      gateway: {
        called: ({ instance, name, iccid }) => {
          const card = world.cardOf.get(iccid);
          if (name !== 'start' || card === undefined || card.resumable) return;
          if (world.lastReturn.at > Number.NEGATIVE_INFINITY) return;
          const text = `select authority from card_stops where card_id = ${card.cardId} and month = '${first}-01'`;
          void world.store
            .sql<{ authority: string | null }>(text)
            .then(([stop]) =>
              check(
                stop !== undefined && stop.authority !== 'operator',
                () =>
                  `${instance} resumes card ${card.cardId}, which ${stop === undefined ? 'was not stopped in the month before' : 'an operator stopped'}`,
              ),
            );
        },
      },
    };
  },
};

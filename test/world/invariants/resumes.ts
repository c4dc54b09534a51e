import { cardsWith } from '../cards.ts';
import type { Invariant } from '../invariant.ts';

/** A resume is called five times at most, with growing pauses. */
const WITHIN_MS = 300_000;
/** From the claim of a resume to its call, and the import of another SIM meanwhile. */
const CALL_MS = 15_000;
/** Calls of the month before have ended then. */
const TURNED_FOR_MS = 50_000;

export const resumes: Invariant = {
  name: 'resumes',
  says: 'Only cards that an operator, or a month that begins, orders to run are resumed; one that is recorded as resumed runs, and none waits for minutes.',
  watch: (world, check) => {
    const first = world.calendar.monthOf(world.nature.epochMs);
    /** The month has turned, and resumes cards (what months.ts looks at). */
    const hasBegun = () =>
      world.nature.resumesAtMonthStart && world.calendar.monthOf(world.time.wall - TURNED_FOR_MS) !== first;
    return {
      gateway: {
        called: ({ name, iccid, instance }) => {
          if (name === 'start')
            check(
              hasBegun() ||
                cardsWith(world, iccid, world.time.now - CALL_MS).some(({ resumable }) => resumable),
              () => `${instance} resumes ${iccid}, which nobody ordered`,
            );
        },
      },
      atRest: async () => {
        if (world.time.now - (world.calmSince ?? 0) < WITHIN_MS) return;
        const runs = await world.store.sql<{ runId: string; state: string; cards: number }>(
          `select run_id, state, count(*) as cards from card_resumes where ended_at is null and due_at < clock_timestamp() - interval '4 minutes'
         group by run_id, state`,
        );
        for (const { runId, state, cards } of runs)
          check(false, () => `${cards} cards of run ${runId} are ${state} for minutes`);
        const ended = await world.store.sql<{ cardId: number; state: string; endedAtMs: number | null }>(
          `select distinct on (card_id) card_id, state, ended_at from card_resumes order by card_id, ended_at desc nulls first`,
        );
        for (const { cardId, state, endedAtMs } of ended) {
          // A record store that went back may have lost a stop that came after it.
          if ((endedAtMs ?? 0) - world.time.epochMs <= world.lastReturn.at) continue;
          const card = world.cards.get(cardId);
          // The SIM that it has now may have been stopped for another card.
          if (card?.formerSims.length !== 0) continue;
          const later = await world.store.sql<{ state: string }>(
            `select state from card_stops where card_id = ${cardId} and state in ('done', 'requested')`,
          );
          if (state === 'resumed' && later.length === 0)
            check(card?.sim.stopped === false, () => `card ${cardId} was resumed, and is stopped`);
        }
      },
    };
  },
};

import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';

/** Two polls of the package after the reading, and the retries of a stop. */
const WITHIN_MS = 300_000;
/** From one reading to the next, and the call that follows. */
const NEW_FOR_MS = 150_000;

export const overStopped: Invariant<Outside> = {
  name: 'over is stopped',
  says: 'Every card over its package is stopped in bounded time, or waits where an operator sees it.',
  watch: (world, check) => ({
    atRest: async () => {
      if (world.time.now - (world.calmSince ?? 0) < WITHIN_MS || world.mode.mode !== 'enforce') return;
      // A resume that the record store has lost by going back: the card runs, and its stop is done.
      const hasLostRecords = world.lastReturn.at > Number.NEGATIVE_INFINITY;
      const month = world.calendar.monthOf(world.time.wall);
      const rows = await world.store.sql<{
        cardId: number;
        usedMb: number;
        allowanceMb: number;
        state: string | null;
        seen: boolean;
        mayBeResumed: boolean;
        isSpared: boolean | null;
      }>(
        `select c.card_id, u.used_mb, c.allowance_mb, s.state, o.card_id is not null as seen,
                -- The answer to a call of a run was lost, and then the run cancelled.
                exists (select from card_resumes r where r.card_id = c.card_id and r.state = 'cancelled'
                  and r.claimed_until is not null) as may_be_resumed,
                s.state in ('dismissed', 'resumed') and not s.stop_again and s.iccid = c.iccid
                  and c.allowance_mb <= coalesce(s.allowance_mb, 'Infinity') as is_spared
         from cards c
         join card_usage u on u.card_id = c.card_id and u.month = '${month}-01' and u.iccid = c.iccid
         left join card_stops s on s.card_id = c.card_id and s.month = u.month
         left join cards_over_running o on o.card_id = c.card_id
         where u.used_mb > c.allowance_mb and u.suspected_mb is null`,
      );
      for (const { cardId, usedMb, allowanceMb, state, seen, mayBeResumed, isSpared } of rows) {
        const card = world.cards.get(cardId);
        const isSeen = state === 'held' || isSpared === true || (seen && (hasLostRecords || mayBeResumed));
        // It may have gone over with its last reading.
        const isNew = usedMb - allowanceMb < ((card?.sim.mbPerHour ?? 0) * NEW_FOR_MS) / 3_600_000;
        check(
          card?.sim.stopped === true || isSeen || isNew,
          () => `card ${cardId} runs with ${usedMb} of ${allowanceMb} MB, its stop is ${state}`,
        );
      }
    },
  }),
};

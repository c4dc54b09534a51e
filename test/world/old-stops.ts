// Stops of before a night, for a month that begins and resumes cards: of the month that goes on and of the one before, by operators and by
// cardpoll. The gateway has these SIMs stopped.
import type { WorldCard } from './cards.ts';
import type { Random } from './virtual/random.ts';
import type { World } from './world.ts';

/** The oldest first, which a run takes first. */
const STOPS = [
  { cards: 3, daysAgo: 31, monthsAgo: 1, authority: null },
  { cards: 3, daysAgo: 4, monthsAgo: 0, authority: 'operator' },
  { cards: 3, daysAgo: 3, monthsAgo: 0, authority: null },
] as const;

export async function addOldStops(world: World, draw: Random): Promise<void> {
  const free = [...world.cards.values()].filter(
    ({ sim, allowanceMb }) => !sim.isUnknown && (allowanceMb === null || allowanceMb > 2 * sim.usedMb + 100),
  );
  for (const { cards, daysAgo, monthsAgo, authority } of STOPS)
    for (let left = cards; left > 0 && free.length > 0; left -= 1) {
      const [card] = free.splice(draw.below(free.length), 1) as [WorldCard];
      card.sim.stopped = true;
      const { cardId, sim } = card;
      const by = authority === null ? 'null, null, null' : `'${authority}', 'operator', 'before the night'`;
      await world.store.sql(
        `insert into card_stops (card_id, month, iccid, used_mb, allowance_mb, state, authority, ordered_by, reason, requested_at, completed_at)
         select ${cardId}, '${world.calendar.monthOf(world.time.wall)}-01'::date - interval '${monthsAgo} month', '${sim.iccid}', 200, 100,
           'done', ${by}, at, at
         from (select clock_timestamp() - interval '${daysAgo} days' + interval '${left} minutes' as at) as times`,
      );
      await world.store.sql(`update cards set stopped = true where card_id = ${cardId}`);
    }
}

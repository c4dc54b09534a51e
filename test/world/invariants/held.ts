import { setAllowance } from '../cards.ts';
import { importCards } from '../fault.ts';
import type { Invariant } from '../invariant.ts';

/** Held stops are looked at every ten seconds. */
const WITHIN_MS = 20_000;
const CARDS = 4;

export const held: Invariant = {
  name: 'held',
  says: 'Once all is well, a held stop is dropped within seconds after the allowance of its card was raised.',
  watch: (world, check) => ({
    drill: async () => {
      const ids = `select card_id from card_stops where state = 'held'`;
      const rows = await world.store.sql<{ cardId: number }>(`${ids} order by card_id limit ${CARDS}`);
      const cards = rows.flatMap(({ cardId }) => world.cards.get(cardId) ?? []);
      if (cards.length === 0) return;
      const known = cards.map((card) => setAllowance(card, null, () => world.time.now));
      await importCards(world, world.random.stream('held'), cards);
      for (const knows of known) knows();
      await world.time.sleep(WITHIN_MS);
      const left = new Set((await world.store.sql<{ cardId: number }>(ids)).map(({ cardId }) => cardId));
      for (const { cardId } of cards)
        check(!left.has(cardId), () => `the stop of card ${cardId} is held, which has no allowance any more`);
    },
  }),
};

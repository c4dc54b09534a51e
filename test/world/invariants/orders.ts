import type { WorldCard } from '../cards.ts';
import { ask } from '../fault.ts';
import type { Invariant } from '../invariant.ts';
import { ACTOR } from '../world.ts';

const WITHIN_MS = 20_000;
const CARDS = 4;
/** Five attempts with growing pauses. */
const EARLIER_WITHIN_MS = 300_000;

export const orders: Invariant = {
  name: 'orders',
  says: 'Once all is well, a stop or a resume that an operator orders is carried out within seconds, and no earlier stop waits for minutes.',
  watch: (world, check) => ({
    atRest: async () => {
      if (world.time.now - (world.calmSince ?? 0) < EARLIER_WITHIN_MS) return;
      const rows = await world.store.sql<{ cardId: number; requestedAtMs: number }>(
        `select card_id, requested_at from card_stops where state = 'requested' and authority is not null`,
      );
      for (const { cardId, requestedAtMs } of rows) {
        const agoMs = world.time.wall - requestedAtMs;
        // The gateway knows no status of such a card.
        if (world.cards.get(cardId)?.sim.isUnknown) continue;
        check(agoMs < EARLIER_WITHIN_MS, () => `card ${cardId} is to stop since ${agoMs} ms`);
      }
    },
    drill: async () => {
      const draw = world.random.stream('orders');
      const carried = new Set<string>();
      world.gateway.watchers.push({ tookEffect: ({ name, iccid }) => carried.add(`${name} ${iccid}`) });
      const open = await world.store.sql<{ cardId: number }>(
        `select card_id from card_stops where state = 'requested' union select card_id from card_resumes where ended_at is null`,
      );
      const isOpen = new Set(open.map(({ cardId }) => cardId));
      // A larger package that is exceeded has a card stopped again, also after its resume.
      const larger = await world.store.sql<{ cardId: number }>(
        'select c.card_id from cards c join card_stops s using (card_id) where c.allowance_mb > s.allowance_mb',
      );
      const mayStop = new Set(larger.map(({ cardId }) => cardId));
      const idle = [...world.cards.values()].filter(
        ({ cardId, sim }) => !sim.isUnknown && !isOpen.has(cardId),
      );
      const some = (cards: readonly WorldCard[]) =>
        new Set(cards.length === 0 ? [] : Array.from({ length: CARDS }, () => draw.oneOf(cards)));
      const carriedOut = async (
        verb: 'stop' | 'resume',
        card: WorldCard,
        work: Parameters<typeof ask<unknown>>[3],
      ) => {
        const answer = await ask(world, draw, `${verb} ${card.cardId}`, work);
        if (answer === null) return;
        await world.time.sleep(WITHIN_MS);
        check(
          carried.has(`${verb === 'stop' ? 'stop' : 'start'} ${card.sim.iccid}`),
          () => `card ${card.cardId} is to ${verb} since ${WITHIN_MS} ms, and does not`,
        );
        if (verb === 'resume' && !mayStop.has(card.cardId))
          check(!card.sim.stopped, () => `card ${card.cardId} was resumed, and is stopped again`);
      };
      const stops = [...some(idle.filter(({ sim }) => !sim.stopped))].map((card) => {
        card.ordered = true;
        return carriedOut('stop', card, (all) => all.stops.order(ACTOR, String(card.cardId), 'a drill'));
      });
      const resumes = [...some(idle.filter(({ sim }) => sim.stopped))].map((card) => {
        card.resumable = true;
        return carriedOut('resume', card, (all) =>
          all.resumes.createForCard(ACTOR, String(card.cardId), { reason: 'a drill', stopAgain: false }),
        );
      });
      await Promise.all([...stops, ...resumes]);
    },
  }),
};

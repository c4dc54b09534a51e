import { setAllowance } from '../../cards.ts';
import { ask, type Fault, importCards } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

const CARDS = 3;

/** A customer who buys a little more, and uses it up at once. */
export const topUps: Fault = {
  name: 'stopped cards topped up',
  weight: 2,
  begin(world, draw) {
    const stopped = [...world.cards.values()].filter(({ sim }) => sim.stopped);
    if (stopped.length === 0) return null;
    const cards = new Set(Array.from({ length: CARDS }, () => draw.oneOf(stopped)));
    const known = [...cards].map((card) => {
      const mb = Math.round(10 * world.gateway.usedMb(card.sim) + draw.between(3, 20)) / 10;
      return setAllowance(card, mb, () => world.time.now);
    });
    const isFirst = draw.chance(0.5);
    const order = { reason: 'as drawn', stopAgain: draw.chance(0.5) };
    const resume = async () => {
      for (const card of cards) {
        card.resumable = true;
        await ask(world, draw, `resume ${card.cardId}`, ({ resumes }) =>
          resumes.createForCard(ACTOR, String(card.cardId), order),
        );
      }
    };
    void (async () => {
      if (isFirst) await resume();
      await importCards(world, draw, cards);
      for (const knows of known) knows();
      if (!isFirst) await resume();
    })();
    return `${[...cards].map(({ cardId, allowanceMb }) => `card ${cardId} has ${allowanceMb} MB`).join(', ')}, and is resumed ${isFirst ? 'before' : 'after'} that`;
  },
};

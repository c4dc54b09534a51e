import { importCards, type OwnFault } from '../../fault.ts';

const CARDS = 6;

export const exchangedAtTurn: OwnFault = {
  name: 'SIMs exchanged as the month turns',
  share: 0.7,
  most: 1,
  at: ({ turnsAfterMs }, draw) => turnsAfterMs - draw.between(2_000, 40_000),
  begin(world, draw) {
    const cards = new Set(Array.from({ length: CARDS }, () => draw.oneOf([...world.cards.values()])));
    const known = [...cards].map((card) => world.setSim(card, world.newSim()));
    void importCards(world, draw, cards).then(() => {
      for (const knows of known) knows();
    });
    return `of cards ${[...cards].map(({ cardId }) => cardId)}`;
  },
};

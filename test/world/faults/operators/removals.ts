import { CARRIERS } from '../../cards.ts';
import { importCards, lasting, type OwnFault } from '../../fault.ts';

export const removals: OwnFault = {
  name: 'cards removed, given to others',
  share: 0.35,
  most: 3,
  begin(world, draw) {
    const cards = [
      ...new Set(Array.from({ length: draw.between(1, 4) }, () => draw.oneOf([...world.cards.values()]))),
    ];
    const ms = draw.oneOf([draw.between(1, 2_000), draw.between(2_000, 60_000)]);
    // The system of the operator removes them in the database.
    const removed = world.imports(async () => {
      const known = cards.map((card) => world.setSim(card, world.newSim()));
      const ids = cards.map(({ cardId }) => cardId);
      await world.store.sql(`delete from cards where card_id in (${ids})`);
      for (const knows of known) knows();
      // What it has used begins at zero.
      for (const card of cards) card.sims.splice(0, card.sims.length - 1);
    });
    lasting(world, ms, () => void removed.then(() => importCards(world, draw, cards)));
    return `${cards.map(({ cardId }) => cardId)}, which others get with new SIMs after ${ms} ms`;
  },
};

export const carrierMoves: OwnFault = {
  name: 'cards moved to another carrier',
  share: 0.3,
  most: 2,
  begin(world, draw) {
    const cards = new Set(
      Array.from({ length: draw.between(1, 15) }, () => draw.oneOf([...world.cards.values()])),
    );
    for (const card of cards) Object.assign(card, { carrierId: draw.between(1, CARRIERS), hasMoved: true });
    void importCards(world, draw, cards);
    return [...cards].map(({ cardId, carrierId }) => `${cardId} to ${carrierId}`).join(', ');
  },
};

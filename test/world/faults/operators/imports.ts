import { drawnAllowance, setAllowance } from '../../cards.ts';
import { type Fault, importCards } from '../../fault.ts';

export const imports: Fault = {
  name: 'cards imported',
  weight: 2,
  begin(world, draw) {
    const cards = new Set(
      Array.from({ length: draw.between(1, 10) }, () => draw.oneOf([...world.cards.values()])),
    );
    const known: Array<() => void> = [];
    for (const card of cards) {
      if (draw.chance(0.2)) {
        known.push(world.setSim(card, world.newSim()));
      }
      known.push(setAllowance(card, drawnAllowance(card, draw), () => world.time.now));
    }
    void importCards(world, draw, cards).then(() => {
      for (const knows of known) knows();
    });
    const said = [...cards].map(
      ({ cardId, sim, allowanceMb }) => `${cardId} ${sim.iccid} ${allowanceMb ?? ''}`,
    );
    return `${said.length} cards are imported: ${said.join('; ')}`;
  },
};

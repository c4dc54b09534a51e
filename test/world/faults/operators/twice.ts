import { ask, type OwnFault } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

/** Cards of drills are others. */
const AMONG = 40;

/** A batch may then have a card twice, with others behind it. */
export const triggeredTwice: OwnFault = {
  name: 'cards triggered by two at once',
  share: 0.8,
  most: 6,
  begin(world, draw) {
    const first = draw.between(1, Math.max(1, Math.min(AMONG, world.size.cards) - 4));
    const ids = Array.from({ length: draw.between(2, 4) }, (_, i) => first + i).filter(
      (id) => id <= world.size.cards,
    );
    for (const id of ids) world.triggered.add(id);
    void ask(world, draw, 'trigger', ({ triggers }) => triggers.batch(ACTOR, 'carddata', [first]));
    void ask(world, draw, 'trigger', ({ triggers }) => triggers.batch(ACTOR, 'carddata', ids));
    return `card ${first}, and ${ids}`;
  },
};

import type { OwnFault } from '../../fault.ts';

export const countersRestart: OwnFault = {
  name: 'counters restart within the month',
  share: 0.15,
  most: 2,
  begin(world, draw) {
    world.haveRestarted = true;
    const carrierId = draw.chance(0.5) ? draw.between(1, 3) : null;
    for (const card of world.cards.values())
      if (carrierId === null || card.carrierId === carrierId) world.gateway.restartCounter(card.sim);
    return carrierId === null ? 'of all SIMs' : `of the SIMs of carrier ${carrierId}`;
  },
};

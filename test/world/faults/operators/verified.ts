import { importCards, type OwnFault } from '../../fault.ts';

const TAKES_MS = 4_000;

/** A SIM is verified, and its card gets another one while it is asked about. */
export const verifiedAndMoved: OwnFault = {
  name: 'SIM verified and exchanged during a poll',
  share: 0.35,
  most: 3,
  begin(world, draw) {
    const known = [...world.cards.values()].filter(({ sim }) => !sim.isUnknown && sim.isRecorded);
    if (known.length === 0) return null;
    const card = draw.oneOf(known);
    const { sim } = card;
    const next = world.newSim();
    next.verified = sim.verified;
    const exchange = () => {
      // Faults may have ended meanwhile, or another one gave it another SIM.
      if (world.calmSince !== null || card.sim !== sim) return;
      sim.verified = !sim.verified;
      const knows = world.setSim(card, next);
      void importCards(world, draw, [card]).then(knows);
    };
    world.gateway.setFate('realname', sim.iccid, { takesMs: TAKES_MS, meanwhile: exchange });
    return `card ${card.cardId}`;
  },
};

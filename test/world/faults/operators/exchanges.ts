import { setAllowance } from '../../cards.ts';
import { type Fault, importCards } from '../../fault.ts';

/** Enough to be over its package by far, whatever was read last. */
const OVER_MB = 6;
const STATUS_TAKES_MS = 3_000;

/** A SIM goes to another card, or is exchanged with it, while it is about to be stopped: its status is asked, and its stop not yet claimed. */
export const exchanges: Fault = {
  name: 'SIM moved during a poll',
  weight: 2,
  begin(world, draw) {
    const { gateway, time } = world;
    const running = [...world.cards.values()].filter(
      ({ sim }) => !sim.stopped && !sim.isUnknown && gateway.usedMb(sim) > 2 * OVER_MB,
    );
    if (running.length < 2) return null;
    const over = draw.oneOf(running);
    const other = draw.oneOf(running.filter((card) => card !== over));
    const smaller = setAllowance(over, Math.floor(gateway.usedMb(over.sim) - OVER_MB), () => time.now);
    const larger = setAllowance(other, 10_000, () => time.now);
    const { sim } = over;
    const isExchange = draw.chance(0.5);
    const exchange = async () => {
      const inPlace = isExchange ? other.sim : world.newSim();
      const known = [world.setSim(over, inPlace), world.setSim(other, sim)];
      world.tell(
        'operator',
        `card ${other.cardId} has the SIM of card ${over.cardId} now, which has ${isExchange ? 'its former' : 'a new'} one`,
      );
      await importCards(world, draw, [over, other]);
      for (const knows of known) knows();
    };
    void importCards(world, draw, [over, other]).then(() => {
      smaller();
      larger();
      // Faults may have ended meanwhile.
      if (world.calmSince !== null || over.sim !== sim) return;
      gateway.setFate('card_status', sim.iccid, {
        takesMs: STATUS_TAKES_MS,
        meanwhile: () => void exchange(),
      });
    });
    return `card ${over.cardId} is over its package, and card ${other.cardId} will have its SIM`;
  },
};

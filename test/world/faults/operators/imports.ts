import { Readable } from 'node:stream';
import { demoIccid } from '../../../../src/gateway/simulated-fleet.ts';
import { ask, type Fault } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

/** ICCIDs of exchanged SIMs begin behind those of the fleet. */
const NEW_SIMS = 1_000_000;

export const imports: Fault = {
  name: 'cards imported',
  weight: 2,
  begin(world, draw) {
    const rows = [];
    for (let left = draw.between(1, 10); left > 0; left -= 1) {
      const card = draw.oneOf([...world.cards.values()]);
      const { usedMb } = card.sim;
      const isExchange = draw.chance(0.2);
      if (isExchange) {
        world.exchanges += 1;
        world.setSim(card, world.gateway.addSim(demoIccid(NEW_SIMS + world.exchanges)));
      }
      // A top-up, a smaller package, or none.
      world.setAllowance(
        card,
        draw.oneOf([null, 10_000, Math.round(usedMb + 30), Math.max(0, Math.round(usedMb - 5))]),
      );
      rows.push(`${card.cardId},${card.sim.iccid},${card.carrierId},1,${card.allowanceMb ?? ''}`);
    }
    const file = [
      'card_id,iccid,carrier_id,status,allowance_mb',
      ...new Map(rows.map((row) => [row.split(',')[0], row])).values(),
      '',
    ];
    const put = () =>
      ask(world, draw, 'import', ({ cards }) =>
        cards.import(ACTOR, Readable.from([file.join('\n')]), { format: 'csv' }),
      );
    // An import is repeatable, and is repeated until it succeeds.
    void (async () => {
      while ((await put()) === null) await world.time.sleep(2_000);
    })();
    return `${rows.length} cards are imported: ${rows
      .map((row) =>
        row
          .split(',')
          .filter((_, i) => i !== 2 && i !== 3)
          .join(' '),
      )
      .join('; ')}`;
  },
};

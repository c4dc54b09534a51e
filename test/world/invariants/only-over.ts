import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';
import { packagesOf } from '../packages.ts';

export const onlyOver: Invariant<Outside> = {
  name: 'only over',
  says: 'No SIM is stopped that is not over its package, unless an operator orders it or the gateway shows it over.',
  watch: (world, check) => ({
    gateway: {
      called: ({ name, iccid, instance }) => {
        if (name !== 'stop') return;
        const facts = packagesOf(world, iccid);
        check(
          facts.some(({ isOver, isShownOver, card }) => isOver || isShownOver || card.ordered),
          () => `${instance} stops ${iccid}: ${facts.map(({ says }) => says).join('; ')}`,
        );
      },
    },
  }),
};

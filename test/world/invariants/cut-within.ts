import { FEW_OVER } from '../../../src/domain/results/fleet-level.ts';
import type { Invariant } from '../invariant.ts';
import { packagesOf } from '../packages.ts';

export const cutWithin: Invariant = {
  name: 'cut within',
  says: `While the gateway shows wrong values, and after that, it is asked to stop at most ${FEW_OVER} SIMs whose true usage is within their package.`,
  watch: (world, check) => {
    const cut = new Set<string>();
    return {
      gateway: {
        called: ({ name, iccid }) => {
          if (name !== 'stop') return;
          const facts = packagesOf(world, iccid);
          if (!facts.some(({ isShownOver }) => isShownOver)) return;
          const isRight = facts.some(({ isOver, card }) => isOver || card.ordered || card.released);
          if (!isRight) cut.add(iccid);
          // What the watch has counted goes back in time with the records.
          const isForgotten = world.lastReturn.at > Number.NEGATIVE_INFINITY;
          check(
            isForgotten || cut.size <= FEW_OVER,
            () =>
              `${cut.size} SIMs are stopped by wrong values; the last: ${facts.map(({ says }) => says).join('; ')}`,
          );
        },
      },
    };
  },
};

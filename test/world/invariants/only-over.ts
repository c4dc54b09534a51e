import { cardsWith } from '../cards.ts';
import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';

/** A top-up is known everywhere within the time of a claimed call and an import that is repeated. */
const KNOWN_WITHIN_MS = 30_000;
const MONTH_TURN_MS = 120_000;

export const onlyOver: Invariant<Outside> = {
  name: 'only over',
  says: 'No SIM is stopped that is not over its package, unless an operator orders it.',
  watch: (world, check) => ({
    gateway: {
      called: ({ name, iccid, instance }) => {
        if (name !== 'stop') return;
        const since = world.time.now - KNOWN_WITHIN_MS;
        const facts = cardsWith(world, iccid, since).map((card) => {
          // What earlier SIMs of the card have used this month counts, too.
          const usedIn = (atMs: number) => {
            const month = world.calendar.monthOf(atMs);
            return card.sims.reduce((mb, { peaks }) => mb + (peaks.get(month) ?? 0), 0);
          };
          const shown = Math.max(usedIn(world.time.wall - MONTH_TURN_MS), usedIn(world.time.wall));
          const allowed = [
            card.allowanceMb,
            ...card.earlier.filter(({ until }) => until >= since).map(({ mb }) => mb),
          ];
          const isOver = allowed.some((mb) => mb !== null && shown > mb);
          const says = `card ${card.cardId} has used ${shown} of ${allowed.join(' or ')} MB`;
          return { isAllowed: isOver || card.ordered, says };
        });
        check(
          facts.some(({ isAllowed }) => isAllowed),
          () => `${instance} stops ${iccid}: ${facts.map(({ says }) => says).join('; ')}`,
        );
      },
    },
  }),
};

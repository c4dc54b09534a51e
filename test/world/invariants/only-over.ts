import type { Invariant } from '../invariant.ts';

/** A top-up is known everywhere within the time of a claimed call and an import that is repeated. */
const KNOWN_WITHIN_MS = 30_000;
const MONTH_TURN_MS = 120_000;

export const onlyOver: Invariant = {
  name: 'only over',
  says: 'No SIM is stopped that is not over its package, unless an operator orders it.',
  watch: (world, check) => ({
    gateway: {
      called: ({ name, iccid, instance }) => {
        const card = world.cardOf.get(iccid);
        if (name !== 'stop' || card === undefined) return;
        const sim = world.gateway.sims.get(iccid);
        const month = world.calendar.monthOf(world.time.wall - MONTH_TURN_MS);
        const shown = Math.max(
          sim?.peaks.get(month) ?? 0,
          sim?.peaks.get(world.calendar.monthOf(world.time.wall)) ?? 0,
        );
        const since = world.time.now - KNOWN_WITHIN_MS;
        const allowed = [
          card.allowanceMb,
          ...card.earlier.filter(({ until }) => until >= since).map(({ mb }) => mb),
        ];
        const isOver = allowed.some((mb) => mb !== null && shown > mb);
        check(
          isOver || card.ordered,
          () =>
            `${instance} stops card ${card.cardId}, which has used ${shown} of ${allowed.join(' or ')} MB`,
        );
      },
    },
  }),
};

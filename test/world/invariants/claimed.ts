import { ask } from '../fault.ts';
import type { Invariant } from '../invariant.ts';
import { ACTOR, type StoreCall } from '../world.ts';

/** A call that cannot be sent within a second of its pass, which is older than its claim, is not made. */
const CALLED_WITHIN_MS = 1_000;
/** When other orders of drills are carried out. */
const DRILL_AFTER_MS = 60_000;
/** Longer than a pass is good for, and shorter than the lease of the leader. */
const FROZEN_MS = 3_000;
const CARDS = 3;

export const claimed: Invariant = {
  name: 'claimed calls',
  says: 'A stop or resume is claimed for the SIM that its card has, and called within a second of its claim.',
  watch: (world, check) => {
    const grants = new Map<string, number>();
    const noteClaim =
      (name: 'stop' | 'start') =>
      ({ instance, args: [asked], answer }: StoreCall) => {
        const { cardId, iccid } = asked as { cardId: number; iccid: string };
        const { state } = answer as { state: string };
        if (state !== 'granted' && state !== 'unresolved') return;
        grants.set(`${instance} ${name} ${iccid}`, world.time.now);
        const card = world.cards.get(cardId);
        // An import that is under way has happened, or not.
        const former = card?.formerSims.filter(({ until }) => until >= world.time.now) ?? [];
        check(
          card?.sim.iccid === iccid || former.some(({ sim }) => sim.iccid === iccid),
          () => `${instance} may ${name} ${iccid} for card ${cardId}, which has SIM ${card?.sim.iccid}`,
        );
      };
    return {
      // Instances stand still between claims and their calls.
      drill: async () => {
        const draw = world.random.stream('claimed');
        await world.time.sleep(DRILL_AFTER_MS);
        for (const instance of world.up)
          instance.onAnswer = {
            method: 'records.stops.claim',
            happens: () => {
              instance.freeze();
              world.time.after(FROZEN_MS, () => instance.thaw());
            },
          };
        const running = [...world.cards.values()].filter(({ sim }) => !sim.stopped && !sim.isUnknown);
        for (let i = 0; i < CARDS && running.length > 0; i += 1) {
          const card = draw.oneOf(running);
          card.ordered = true;
          void ask(world, draw, `stop ${card.cardId}`, ({ stops }) =>
            stops.order(ACTOR, String(card.cardId), 'a drill'),
          );
        }
      },
      store: {
        'records.stops.claim': noteClaim('stop'),
        'records.resumes.claim': noteClaim('start'),
      },
      gateway: {
        called: ({ instance, name, iccid }) => {
          if (name !== 'stop' && name !== 'start') return;
          const agoMs =
            world.time.now - (grants.get(`${instance} ${name} ${iccid}`) ?? Number.NEGATIVE_INFINITY);
          check(
            agoMs <= CALLED_WITHIN_MS,
            () => `${instance} calls ${name} of ${iccid}, ${agoMs} ms after its claim`,
          );
        },
      },
    };
  },
};

import { hadByTwo } from '../cards.ts';
import type { Call } from '../gateway.ts';
import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';

export const oneCall: Invariant<Outside> = {
  name: 'one call at a time',
  says: 'A card has no two stops or resumes under way at once, and no two scheduled polls of a task type.',
  watch: (world, check) => {
    const { gateway, cardOf, triggered } = world;
    const changes = (call: Call) => call.name === 'stop' || call.name === 'start';
    return {
      gateway: {
        called: (call) => {
          // A status is asked by polls and after stops.
          if (call.name === 'card_status') return;
          // A poll that an operator orders does not wait for the one of the schedule.
          if (!changes(call) && triggered.has(cardOf.get(call.iccid)?.cardId ?? 0)) return;
          if (world.hasLostClaims || hadByTwo(world, call.iccid)) return;
          const other = [...gateway.inFlight].find(
            (one) =>
              one.id !== call.id &&
              !one.forgiven &&
              one.iccid === call.iccid &&
              (one.name === call.name || (changes(one) && changes(call))),
          );
          check(
            other === undefined,
            () =>
              `${call.instance} calls ${call.name} of ${call.iccid} while ${other?.name} by ${other?.instance} is under way`,
          );
        },
      },
    };
  },
};

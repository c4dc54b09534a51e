import type { PollOutcome } from '../../../src/domain/results/poll-outcome.ts';
import { TASKS } from '../../../src/domain/task-type.ts';
import { hadByTwo } from '../cards.ts';
import type { Call } from '../gateway.ts';
import type { Instance } from '../instance.ts';
import type { Invariant } from '../invariant.ts';

interface Waiting {
  readonly instance: Instance;
  readonly since: number;
}

export const waiting: Invariant = {
  name: 'waiting results',
  says: 'A card is not polled again while the result of its last poll waits for the record store.',
  watch: (world, check) => {
    const results = new Map<string, Waiting>();
    const keyOf = ({ name, iccid }: Call) => `${name} ${iccid}`;
    /** The lease was kept: its instance and its way to the live store were well all the time. */
    const isKept = ({ instance, since }: Waiting) =>
      instance.state === 'up' &&
      instance.troubledAt < since &&
      Math.max(world.lastForgiven, world.lastStep) < since;
    return {
      store: {
        'records.results.write': ({ args: [outcomes] }) => {
          for (const { cardId, iccid, taskType } of outcomes as readonly PollOutcome[])
            results.delete(`${TASKS[taskType].interface} ${iccid ?? world.cards.get(cardId)?.sim.iccid}`);
        },
      },
      gateway: {
        answered: (call) => {
          const instance = world.up.find(({ id }) => id === call.instance);
          // Only while results cannot be written, so that all of them wait.
          if (call.name === 'card_status' || instance?.ways.records.isCut !== true) return;
          results.set(keyOf(call), { instance, since: call.at });
        },
        called: (call) => {
          const one = results.get(keyOf(call));
          // A poll that an operator orders does not wait for the one of the schedule.
          if (world.triggered.has(world.cardOf.get(call.iccid)?.cardId ?? 0)) return;
          if (one === undefined || hadByTwo(world, call.iccid)) return;
          check(
            !isKept(one),
            () =>
              `${call.instance} calls ${keyOf(call)}, whose result of ${world.time.now - one.since} ms ago waits in ${one.instance.id}`,
          );
        },
      },
    };
  },
};

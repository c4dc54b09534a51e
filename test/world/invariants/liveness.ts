import { TASK_TYPES, TASKS } from '../../../src/domain/task-type.ts';
import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';

/** For retries, restarted instances and the slow begin after an outage. */
const SLACK_MS = 60_000;

export const liveness: Invariant<Outside> = {
  name: 'liveness',
  says: 'Once the faults have ended, every card is polled within its interval.',
  watch: (world, check) => {
    const answered = new Map<string, number>();
    return {
      gateway: {
        ended: ({ name, iccid }, isAnswered) => {
          if (isAnswered) answered.set(`${name} ${iccid}`, world.time.now);
        },
      },
      atRest: async () => {
        const withinMs = world.intervalSeconds * 1_000 + SLACK_MS;
        if (world.time.now - (world.calmSince ?? 0) < withinMs + SLACK_MS) return;
        for (const { cardId, sim } of world.cards.values())
          for (const type of TASK_TYPES) {
            const at = answered.get(`${TASKS[type].interface} ${sim.iccid}`);
            const agoMs = world.time.now - (at ?? 0);
            check(agoMs <= withinMs, () => `card ${cardId} was not polled for ${type} for ${agoMs} ms`);
          }
      },
    };
  },
};

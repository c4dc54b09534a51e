import { ConfigMatcher, type PollingConfig } from '../../../src/domain/schedule/polling-config.ts';
import { TASK_TYPES, TASKS, type TaskType } from '../../../src/domain/task-type.ts';
import { hadByTwo } from '../cards.ts';
import type { Invariant } from '../invariant.ts';

/** An instance reads the configs twice a second, and what it has claimed by then is called within a lease. */
const IN_FORCE_WITHIN_MS = 17_000;

export const disabled: Invariant = {
  name: 'disabled',
  says: 'Seconds after a config was disabled, no card of it is polled by the schedule.',
  watch: (world, check) => {
    const typeOf = new Map<string, TaskType>(TASK_TYPES.map((type) => [TASKS[type].interface, type]));
    let known = '';
    /** Since when the configs are these, by the look that found them. */
    let since = 0;
    let matcher = new ConfigMatcher([]);
    let hasDisabled = false;
    const read = () =>
      world.store.sql<PollingConfig>(
        'select id, name, task_type, card_condition, carrier_id, interval_seconds, priority, status from polling_configs order by id',
      );
    return {
      now: async () => {
        const configs = await read();
        const text = JSON.stringify(configs);
        if (text === known) return;
        known = text;
        since = world.time.now;
        matcher = new ConfigMatcher(configs);
        hasDisabled = configs.some(({ status }) => status === 0);
      },
      gateway: {
        called: ({ instance: id, name, iccid }) => {
          const type = typeOf.get(name);
          // After a stop the status is asked for.
          if (!hasDisabled || type === undefined || name === 'card_status') return;
          const instance = world.up.find((one) => one.id === id);
          const card = world.cardOf.get(iccid);
          if (instance === undefined || card === undefined || card.hasMoved) return;
          if (world.triggered.has(card.cardId) || hadByTwo(world, iccid)) return;
          const troubledAt = Math.max(instance.troubledAt, instance.recordsTroubledAt, world.lastReturn.at);
          if (world.time.now - Math.max(since, troubledAt) < IN_FORCE_WITHIN_MS) return;
          const configs = [true, false].map((realNameVerified) =>
            matcher.match(type, { ...card, realNameVerified }),
          );
          if (configs.every((config) => config?.status === 1)) return;
          if (configs.some((config) => config?.status === 1)) return check(true, () => '');
          const [agoMs, seen] = [world.time.now - since, known];
          // It may have been enabled since the last look.
          void read().then((present) =>
            check(
              JSON.stringify(present) !== seen,
              () =>
                `${id} polls ${type} of card ${card.cardId}, whose config ${configs[0]?.id} is disabled since ${agoMs} ms`,
            ),
          );
        },
      },
    };
  },
};

import type { Settlement, WorkItem } from '../../../src/store/ports/live/work-queue.ts';
import type { Invariant } from '../invariant.ts';

export const fenced: Invariant = {
  name: 'fenced',
  says: 'Who ends a piece of work that another one has claimed since, changes nothing.',
  watch: (_, check) => {
    const holders = new Map<string, string>();
    const keyOf = (type: unknown, { lane, member }: WorkItem) =>
      `${type} ${lane === 'manual' ? 'entry' : 'card'} ${member}`;
    return {
      store: {
        'live.work.claim': ({ args: [type], answer }) => {
          const { items } = answer as { items: readonly WorkItem[] };
          for (const item of items) holders.set(keyOf(type, item), item.token);
        },
        'live.work.renew': ({ args: [type, items], answer }) => {
          for (const [i, item] of (items as readonly WorkItem[]).entries()) {
            const key = keyOf(type, item);
            const { token } = (answer as readonly WorkItem[])[i] as WorkItem;
            if (holders.get(key) === item.token) holders.set(key, token);
          }
        },
        'live.work.settle': ({ args: [type, settlements], answer }) => {
          const late = (settlements as readonly Settlement[]).filter(
            ({ item }) => (holders.get(keyOf(type, item)) ?? item.token) !== item.token,
          );
          const { fenced: left } = answer as { fenced: number };
          check(
            left >= late.length,
            () => `${late.length} pieces of work of ${type} are others' by now, and ${left} were left alone`,
          );
        },
      },
    };
  },
};

import { ask, type Fault } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

/** By rule, in the order in which the world makes them: the backlog in percent, the success rate in percent. */
const THRESHOLDS = [
  [0, 60, 1_000],
  [50, 90, 100],
] as const;

export const rules: Fault = {
  name: 'alert rule edited',
  begin(world, draw) {
    const at = draw.below(THRESHOLDS.length);
    const threshold = draw.oneOf(THRESHOLDS[at] ?? []);
    void ask(world, draw, `rule ${at + 1}`, async ({ alerts }) => {
      const { items } = await alerts.list({ page: 1, pageSize: 100 });
      const rule = items.find(({ name }) => name === ['backlog', 'success'][at]);
      if (rule !== undefined) await alerts.update(ACTOR, rule.id, { threshold }, null);
    });
    return `rule ${at + 1} has the threshold ${threshold}`;
  },
};

import { ask, type Fault } from '../../fault.ts';
import type { Random } from '../../virtual/random.ts';
import { ACTOR, type World } from '../../world.ts';

/** By rule, in the order in which the world makes them: the backlog in percent, the success rate in percent. */
const THRESHOLDS = [
  [0, 60, 1_000],
  [50, 90, 100],
] as const;

const NAMES = ['backlog', 'success'] as const;

export function setThreshold(
  world: World,
  draw: Random,
  of: (typeof NAMES)[number],
  threshold: number,
): void {
  void ask(world, draw, `rule ${of}`, async ({ alerts }) => {
    const { items } = await alerts.list({ page: 1, pageSize: 100 });
    const rule = items.find(({ name }) => name === of);
    if (rule !== undefined) await alerts.update(ACTOR, rule.id, { threshold }, null);
  });
}

export const rules: Fault = {
  name: 'alert rule edited',
  begin(world, draw) {
    const at = draw.below(THRESHOLDS.length);
    const threshold = draw.oneOf(THRESHOLDS[at] ?? []);
    setThreshold(world, draw, NAMES[at] as (typeof NAMES)[number], threshold);
    return `rule ${NAMES[at]} has the threshold ${threshold}`;
  },
};

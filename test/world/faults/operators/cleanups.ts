import { ask, type Fault } from '../../fault.ts';
import { ACTOR, OLD_ALERTS } from '../../world.ts';

/** As cleanup_configs has it. */
const ALERT_HISTORY = 3;

export const cleanups: Fault = {
  name: 'retention changed, cleanup begun',
  begin(world, draw) {
    const retentionDays = draw.between(1, OLD_ALERTS);
    world.leastRetentionDays = Math.min(world.leastRetentionDays, retentionDays);
    void ask(world, draw, 'cleanup', async ({ cleanup }) => {
      await cleanup.update(ACTOR, ALERT_HISTORY, { retentionDays }, null);
      const { items } = await cleanup.preview();
      const { runId } = await cleanup.trigger(ACTOR);
      const rows = items.find(({ target }) => target === 'alert_history')?.rows ?? -1;
      world.previews.set(runId, { rows, at: world.time.now });
    });
    return `alerts are kept for ${retentionDays} days`;
  },
};

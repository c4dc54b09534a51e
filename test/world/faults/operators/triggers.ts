import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { ask, type Fault } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

export const triggers: Fault = {
  name: 'manual trigger',
  begin(world, draw) {
    const type = draw.oneOf(TASK_TYPES);
    const ids = [
      ...new Set(Array.from({ length: draw.between(1, 40) }, () => draw.between(1, world.size.cards))),
    ];
    const byCondition = draw.chance(0.3);
    for (const { cardId } of world.cards.values())
      if (byCondition || ids.includes(cardId)) world.triggered.add(cardId);
    const cancelAfterMs = draw.chance(0.3) ? draw.below(5_000) : null;
    void (async () => {
      const made = byCondition
        ? await ask(world, draw, 'trigger', ({ triggers: all }) =>
            all.byCondition(ACTOR, type, { carrierId: 1, status: null }),
          )
        : await ask(world, draw, 'trigger', ({ triggers: all }) => all.batch(ACTOR, type, ids));
      if (made === null || cancelAfterMs === null) return;
      await world.time.sleep(cancelAfterMs);
      await ask(world, draw, 'cancel', ({ triggers: all }) => all.cancel(ACTOR, made.triggerId));
    })();
    return `${byCondition ? 'carrier 1' : `${ids.length} cards`} triggered for ${type}${cancelAfterMs === null ? '' : ', and cancelled'}`;
  },
};

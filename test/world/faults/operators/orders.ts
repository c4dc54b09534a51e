import { ask, type Fault } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

export const orders: Fault = {
  name: 'stops and resumes ordered',
  weight: 3,
  begin(world, draw) {
    const reason = 'as drawn';
    const said: string[] = [];
    for (let left = draw.between(1, 4); left > 0; left -= 1) {
      const stopped = [...world.cards.values()].filter(({ sim }) => sim.stopped);
      const card =
        stopped.length > 0 && draw.chance(0.6) ? draw.oneOf(stopped) : draw.oneOf([...world.cards.values()]);
      const id = String(card.cardId);
      const verb = draw.oneOf(['stop', 'resume', 'release', 'dismiss'] as const);
      said.push(`${verb} ${id}`);
      if (verb === 'stop') card.ordered = true;
      if (verb === 'resume') card.resumable = true;
      const released = async (which: string) => {
        if (verb !== 'release') return;
        const rows = await world.store.sql<{ cardId: number }>(
          `select card_id from card_stops where ${which}`,
        );
        for (const { cardId } of rows) Object.assign(world.cards.get(cardId) ?? {}, { released: true });
      };
      void released("state = 'held'");
      void ask(world, draw, `${verb} ${id}`, async ({ stops, resumes }) => {
        if (verb === 'stop') await stops.order(ACTOR, id, reason);
        if (verb === 'resume')
          await resumes.createForCard(ACTOR, id, { reason, stopAgain: draw.chance(0.5) });
        if (verb === 'release') await stops.release(ACTOR, { all: true, reason });
        if (verb === 'dismiss') await stops.dismiss(ACTOR, { cardIds: [card.cardId], reason });
      }).then(() => released("authority = 'released'"));
    }
    return said.join(', ');
  },
};

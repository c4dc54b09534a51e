import { ask, type Fault } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

export const resumeRuns: Fault = {
  name: 'all stopped cards resumed',
  begin(world, draw) {
    const stopped = [...world.cards.values()].filter(({ sim }) => sim.stopped);
    if (stopped.length === 0) return null;
    for (const card of stopped) card.resumable = true;
    const cardIds = stopped.map(({ cardId }) => cardId);
    const order = { reason: 'as drawn', stopAgain: draw.chance(0.5) };
    const cancelAfterMs = draw.chance(0.4) ? draw.below(20_000) : null;
    void (async () => {
      const run = await ask(world, draw, 'resume', ({ resumes }) =>
        resumes.create(ACTOR, { cardIds, sinceMs: null, carrierId: null }, order),
      );
      if (run === null || cancelAfterMs === null) return;
      await world.time.sleep(cancelAfterMs);
      await ask(world, draw, 'cancel', ({ resumes }) => resumes.cancel(ACTOR, run.id));
    })();
    return `${cardIds.length} cards${cancelAfterMs === null ? '' : `, and the run is cancelled after ${cancelAfterMs} ms`}`;
  },
};

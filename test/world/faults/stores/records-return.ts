import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { type Fault, importCards, insist } from '../../fault.ts';
import { ACTOR, LIMIT } from '../../world.ts';
import { isDrawn, removeConfigs } from '../operators/configs.ts';
import { endPause } from '../operators/pauses.ts';

/** As when a standby takes over that was behind. Operators do again what they did last. */
export const recordsReturn: Fault = {
  name: 'records back in time',
  async begin(world, draw) {
    const goBack = await world.keepRecords();
    const ms = draw.between(200, 15_000);
    world.time.after(ms, () => {
      goBack();
      world.tell('world', `the record store is as it was ${ms} ms ago`);
      void redo();
    });
    const redo = async () => {
      world.mode = { mode: 'unknown', since: world.time.now };
      const ends = world.formerFacts;
      await importCards(world, draw, world.cards.values());
      for (const one of ends) one.until = Math.min(one.until, world.time.now);
      await removeConfigs(world, draw, isDrawn);
      for (const id of [1, 2, 3, 4])
        await insist(world, draw, `config ${id}`, ({ configs }) =>
          configs.update(ACTOR, id, { status: 1 }, null),
        );
      for (const type of TASK_TYPES)
        await insist(world, draw, `limit ${LIMIT}`, ({ concurrency }) =>
          concurrency.set(ACTOR, type, LIMIT, null),
        );
      for (const type of world.pauses.keys()) await endPause(world, draw, type);
      await insist(world, draw, 'mode', ({ stops }) => stops.setMode(ACTOR, 'enforce', 'as before', null));
      world.mode = { mode: 'enforce', since: world.time.now };
    };
    return `the record store will be as it is now in ${ms} ms`;
  },
};

// What the live store of a night had a day before: the product wrote it then, in some minutes of the same fleet in a world of its own.
// Operators have changed since what they had set in it, and the records of the night know nothing of it.
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { ACTOR, type Ground, LIMIT, World, type WorldSize } from '../world.ts';
import type { LiveCopy } from './world-live.ts';

const DAY_MS = 86_400_000;
/** Each card is due once or twice in it. */
const LIVED_MS = 150_000;
const PAUSED_SECONDS = (2 * DAY_MS) / 1_000;

export async function liveDataOfYesterday(size: WorldSize, ground: Ground): Promise<LiveCopy> {
  const world = await World.begin(size, ground, DAY_MS);
  const { time } = world;
  try {
    const { operations } = await time.runWhile(world.addInstance(), 60_000);
    await time.runTo(LIVED_MS);
    const taskType = world.random.stream('yesterday').oneOf(TASK_TYPES);
    const reason = 'of yesterday';
    const ordered = [
      ...TASK_TYPES.map((type) => operations.concurrency.set(ACTOR, type, 2 * LIMIT, null)),
      operations.pauses.pause(ACTOR, { taskType, seconds: PAUSED_SECONDS, reason }),
    ];
    await time.runWhile(Promise.all(ordered), 60_000);
    return await world.shared.copy();
  } finally {
    await world.close();
  }
}

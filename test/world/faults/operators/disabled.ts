import { ask, insist, lasting, type OwnFault } from '../../fault.ts';
import { ACTOR } from '../../world.ts';
import { endPause, pause } from './pauses.ts';

/** By config of the start. */
const CONFIGS = [
  { id: 3, taskType: 'carddata' },
  { id: 4, taskType: 'package' },
] as const;
const PAUSED_SECONDS = 240;
/** What was claimed before the pause has ended, and enough cards wait. */
const DISABLED_AFTER_MS = 25_000;
const RESUMED_AFTER_MS = 30_000;

/** Cards are in the queue when their config is disabled, and are handed out after that. */
export const disabledConfig: OwnFault = {
  name: 'config disabled while its cards wait',
  share: 0.3,
  most: 1,
  at: (_, draw, end) => draw.between(60_000, Math.max(61_000, end - 100_000)),
  begin(world, draw) {
    const { id, taskType } = draw.chance(0.8) ? CONFIGS[0] : CONFIGS[1];
    if (world.pauses.get(taskType) === null) return null;
    const set = (status: 0 | 1, asked: typeof ask | typeof insist) =>
      asked(world, draw, `config ${id}`, ({ configs }) => configs.update(ACTOR, id, { status }, null));
    const ms = draw.between(80_000, 140_000);
    const isOver = () => world.calmSince !== null;
    void (async () => {
      await pause(world, draw, taskType, PAUSED_SECONDS, false);
      await world.time.sleep(DISABLED_AFTER_MS);
      if (!isOver()) await set(0, ask);
      await world.time.sleep(RESUMED_AFTER_MS);
      await endPause(world, draw, taskType);
    })();
    lasting(world, ms, () => void set(1, insist));
    return `${taskType} is paused, and then config ${id} disabled, until ${ms} ms are over`;
  },
};

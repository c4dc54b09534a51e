import { ringKey } from '../../../src/store/ports/live/rings.ts';
import type { Invariant } from '../invariant.ts';
import { isTroubled, lastTrouble } from './in-force.ts';

/** A config is watched twice a second; a walk round the cards takes seconds, and comes round twice at most. */
const WITHIN_MS = 120_000;
/** Without a fault. */
const BUILT_WITHIN_MS = 60_000;

export const rings: Invariant = {
  name: 'rings',
  says: 'The build of a ring ends within a minute without a fault. Once all is well, each config has its ring, loaded and not in the middle of a build, and no other ring is left.',
  watch: (world, check) => {
    let troubledAt = 0;
    /** Builds that have not ended, with the time of the look that found them. */
    let builds = new Map<string, number>();
    return {
      now: async () => {
        const { now } = world.time;
        if (isTroubled(world)) troubledAt = now;
        const loading = (await world.live.rings.list()).filter(
          ({ loaded, building }) => !loaded || building !== null,
        );
        const keys = loading.map(
          (ring) => `${ringKey(ring)}, generation ${(ring.building ?? ring).generation}`,
        );
        builds = new Map(keys.map((key) => [key, builds.get(key) ?? now]));
        for (const [key, since] of builds) {
          const ms = now - Math.max(since, lastTrouble(world, troubledAt));
          check(ms <= BUILT_WITHIN_MS, () => `the build of ring ${key}, does not end for ${ms} ms`);
        }
      },
      atRest: async () => {
        if (world.time.now - (world.calmSince ?? 0) < WITHIN_MS) return;
        const found = await world.live.rings.list();
        const configs = await world.store.sql<{ id: number; taskType: string }>(
          'select id, task_type from polling_configs',
        );
        const wanted = configs.map(({ id, taskType }) => `${taskType}:${id}`).sort();
        const keys = found.map(ringKey).sort();
        check(keys.join() === wanted.join(), () => `there are the rings ${keys}, and the configs ${wanted}`);
        for (const ring of found)
          check(
            ring.loaded && ring.building === null,
            () => `ring ${ringKey(ring)} is ${ring.loaded ? 'still built for other cards' : 'not loaded'}`,
          );
      },
    };
  },
};

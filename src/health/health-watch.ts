// Records the health reasons every few seconds, so that reports can show since when each has existed. Started by serve.ts on
// instances that serve the API; several instances record the same reasons.
import { type LoopDeps, LoopService } from '../platform/loop.ts';
import type { HealthLog } from '../store/ports/live/poll-stats.ts';
import { WATCHED } from './change-watch.ts';
import type { FleetHealth } from './fleet-health.ts';
import { reasonName } from './health-reasons.ts';

/** Often, so that a change is known to come before a reason or after it. */
const LOOK_EVERY_MS = 2_000;
/** A reason ends only after this long, so that a failed check or a short pause of the problem does not end it. */
const HOLDS_MS = 30_000;
/** After a longer gap between two checks a reason may have begun in it. */
const WATCH_HOLDS_MS = 5 * LOOK_EVERY_MS;

export class HealthWatch extends LoopService<
  LoopDeps & { readonly judge: Pick<FleetHealth, 'judge'>; readonly health: Pick<HealthLog, 'note'> }
> {
  readonly name = 'health-watch';

  async runOnce(): Promise<number> {
    const { reasons, tasks } = await this.deps.judge.judge();
    // Includes the reasons of each task type: one reason of the fleet may stand for several of them.
    const all = [...reasons, ...tasks.flatMap((task) => task.reasons)];
    // First, because the reasons of this check did not begin before the watch.
    await this.deps.health.note([WATCHED], WATCH_HOLDS_MS);
    await this.deps.health.note([...new Set(all.map(reasonName))], HOLDS_MS);
    return LOOK_EVERY_MS;
  }
}

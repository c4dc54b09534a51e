// Notes the health reasons every few seconds, so that reports can show since when each has existed. Started by serve.ts on instances
// that serve the API; several instances note the same.
import { type LoopMeans, LoopService } from '../platform/loop.ts';
import type { HealthLog } from '../store/ports/live/poll-stats.ts';
import { WATCHED } from './change-watch.ts';
import type { FleetHealth } from './fleet-health.ts';
import { reasonName } from './health-reasons.ts';

/** Often, so that a change is known to be before a reason or after it. */
const LOOK_EVERY_MS = 2_000;
/** A reason ends only after this long: a check that fails, or finds a short pause of the problem, does not end it. */
const HOLDS_MS = 30_000;
/** After a longer gap between two looks it is not known whether a reason began in it. */
const WATCH_HOLDS_MS = 5 * LOOK_EVERY_MS;

export class HealthWatch extends LoopService<
  LoopMeans & { readonly judge: Pick<FleetHealth, 'judge'>; readonly health: Pick<HealthLog, 'note'> }
> {
  readonly name = 'health-watch';

  async runOnce(): Promise<number> {
    const { reasons, tasks } = await this.deps.judge.judge();
    // Those of a task type too: one reason of the fleet may stand for several of them.
    const all = [...reasons, ...tasks.flatMap((task) => task.reasons)];
    // First: what this look finds did not begin before the watch.
    await this.deps.health.note([WATCHED], WATCH_HOLDS_MS);
    await this.deps.health.note([...new Set(all.map(reasonName))], HOLDS_MS);
    return LOOK_EVERY_MS;
  }
}

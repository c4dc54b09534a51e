// Notes the health reasons every few seconds, so that reports can show since when each has existed. Started by wiring
// on instances that serve the API; several instances note the same. The reasons come from health-reasons.ts; the live
// store keeps their beginning.
import { type LoopMeans, LoopService } from '../../platform/loop.ts';
import type { HealthLog } from '../../store/ports/live/history-log.ts';
import { reasonName } from '../health/health-reasons.ts';
import type { StatsOperations } from './stats.ts';

const LOOK_EVERY_MS = 10_000;
/** A reason ends only after this long: a check that fails, or finds a short pause of the problem, does not end it. */
const HOLDS_MS = 6 * LOOK_EVERY_MS;

export class HealthWatch extends LoopService {
  constructor(
    private readonly deps: LoopMeans & {
      readonly stats: Pick<StatsOperations, 'overview'>;
      readonly health: Pick<HealthLog, 'note'>;
    },
  ) {
    super('health-watch', deps);
  }

  async runOnce(): Promise<number> {
    const { healthReasons } = await this.deps.stats.overview();
    await this.deps.health.note(healthReasons.map(reasonName), HOLDS_MS);
    return LOOK_EVERY_MS;
  }
}

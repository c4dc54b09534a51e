// Notes what is wrong every few seconds, so that everybody can tell since when it is. Started by wiring where the API is
// served; several that watch note the same. The reasons are health-reasons.ts, their beginning is the live store's to keep.
import type { Clock } from '../../platform/clock.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { HealthLog } from '../../store/ports/live/health-log.ts';
import { reasonName } from '../health/health-reasons.ts';
import type { StatsOperations } from './stats.ts';

const LOOK_EVERY_MS = 10_000;
/** Looks that fail, or find a moment of calm, are no end. */
const HOLDS_MS = 6 * LOOK_EVERY_MS;

export class HealthWatch extends LoopService {
  constructor(
    private readonly deps: {
      readonly stats: Pick<StatsOperations, 'overview'>;
      readonly health: Pick<HealthLog, 'note'>;
      readonly clock: Clock;
      readonly onError: LoopErrorHandler;
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

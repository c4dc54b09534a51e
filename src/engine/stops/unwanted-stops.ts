// Drops held stops that are not wanted any more: the allowance was raised, the usage corrected, the month is over. Looks at
// all held stops every ten seconds, a bounded number a turn. Runs on the leader.
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';

const LOOK_EVERY_MS = 10_000;
const NEXT_STEP_MS = 100;
const STOPS_A_STEP = 1_000;

export class UnwantedStops extends LoopService {
  /** The look continues after this card id; 0: from the start. */
  #afterCardId = 0;
  #dropped = 0;

  constructor(
    private readonly deps: {
      readonly stops: Pick<StopRecords, 'dropUnwanted'>;
      readonly fence: () => number | null;
      readonly clock: Clock;
      readonly log: Logger;
      readonly onError: LoopErrorHandler;
    },
  ) {
    super('unwanted-stops', deps);
  }

  async runOnce(): Promise<number> {
    if (this.deps.fence() === null) return LOOK_EVERY_MS;
    const { lastCardId, dropped } = await this.deps.stops.dropUnwanted(this.#afterCardId, STOPS_A_STEP);
    this.#dropped += dropped;
    this.#afterCardId = lastCardId ?? 0;
    if (lastCardId !== null) return NEXT_STEP_MS;
    if (this.#dropped > 0)
      this.deps.log.info({ stops: this.#dropped }, 'held stops dropped: not wanted any more');
    this.#dropped = 0;
    return LOOK_EVERY_MS;
  }
}

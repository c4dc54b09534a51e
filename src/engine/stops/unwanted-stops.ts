// Drops held stops that are not wanted any more: the allowance was raised, the usage corrected, the month is over. Looks at
// all held stops every ten seconds, a bounded number at a time. Run by order-feeder.ts.
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';

const LOOK_EVERY_MS = 10_000;
const STOPS_AT_ONCE = 2_000;

export class UnwantedStops {
  /** The look continues after this card id; 0: from the start. */
  #afterCardId = 0;
  #dropped = 0;
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly deps: {
      readonly stops: Pick<StopRecords, 'dropUnwanted'>;
      readonly clock: Pick<Clock, 'monotonic'>;
      readonly log: Logger;
    },
  ) {}

  /** Looks every ten seconds, and with every call until it has seen all held stops. */
  async run(): Promise<void> {
    const { stops, clock, log } = this.deps;
    if (clock.monotonic() < this.#lookAt) return;
    const { lastCardId, dropped } = await stops.dropUnwanted(this.#afterCardId, STOPS_AT_ONCE);
    this.#dropped += dropped;
    this.#afterCardId = lastCardId ?? 0;
    if (lastCardId !== null) return;
    if (this.#dropped > 0) log.info({ stops: this.#dropped }, 'held stops dropped: not wanted any more');
    this.#dropped = 0;
    this.#lookAt = clock.monotonic() + LOOK_EVERY_MS;
  }
}

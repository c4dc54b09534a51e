// What time it is for what is read: the live store's, which dates a claim, as long as the record store's clock agrees. When
// the two differ it is the record store's: a Redis clock that is ahead must not count usage in a month that has not begun.
// Every instance has one. Between two looks it goes on by this machine's monotonic clock, so that a step of the live store's
// clock is noticed with the first claim that it dates.
import { type LoopMeans, LoopService } from '../platform/loop.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';

const LOOK_EVERY_MS = 5_000;
/** Clocks that differ by less agree: one of them dates all readings, so that their order is right to the millisecond. */
const AGREE_MS = 2_000;
/** An answer that took longer tells the time too roughly. */
const PROMPT_MS = 500;

export class FleetClock extends LoopService {
  /** The record store's clock less clock.monotonic(); null before the first look, with which the engine starts. */
  #offsetMs: number | null = null;

  constructor(
    private readonly records: Pick<RecordStore, 'now'>,
    private readonly parts: LoopMeans,
  ) {
    super('fleet-clock', parts);
  }

  /**
   * @param claimedAtMs the live store's clock when it made a claim, epoch milliseconds
   * @param claimedAt clock.monotonic() from before that claim was sent
   * @returns when the claim was made, epoch milliseconds
   */
  timeOf(claimedAtMs: number, claimedAt: number): number {
    if (this.#offsetMs === null) return claimedAtMs;
    const byRecordsMs = this.#offsetMs + claimedAt;
    return Math.abs(claimedAtMs - byRecordsMs) <= AGREE_MS ? claimedAtMs : byRecordsMs;
  }

  async runOnce(): Promise<number> {
    const askedAt = this.parts.clock.monotonic();
    const nowMs = await this.records.now();
    const tookMs = this.parts.clock.monotonic() - askedAt;
    if (tookMs <= PROMPT_MS || this.#offsetMs === null) this.#offsetMs = nowMs - askedAt - tookMs / 2;
    return LOOK_EVERY_MS;
  }
}

// The time of readings. It is the live store's time, which dates a claim, as long as the record store's clock agrees. When the
// two differ, the record store's time is used: a Redis clock that is ahead must not count usage in a month that has not begun.
// Every instance has a fleet clock. Between two queries it advances by this machine's monotonic clock, so a step of the live
// store's clock is noticed with the next claim.
import { type LoopDeps, LoopService } from '../platform/loop.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';

const LOOK_EVERY_MS = 5_000;
/**
 * Clocks that differ by less than this agree. The live store's clock alone then dates all readings, which keeps their order
 * exact.
 */
const AGREE_MS = 2_000;
/** A slower answer does not give the time precisely enough. */
const PROMPT_MS = 500;

export class FleetClock extends LoopService<LoopDeps & { readonly records: Pick<RecordStore, 'now'> }> {
  readonly name = 'fleet-clock';
  /** The record store's clock minus clock.monotonic(); null before the first query, which is made at the start. */
  #offsetMs: number | null = null;
  /** Duration of the last two queries, the latest last. */
  #tookMs: readonly number[] = [];

  /** The shorter of the last two queries, milliseconds; null before there are two. */
  get databaseMs(): number | null {
    return this.#tookMs.length < 2 ? null : Math.round(Math.min(...this.#tookMs));
  }

  /**
   * @param claimedAtMs the live store's time of the claim, epoch milliseconds
   * @param claimedAt clock.monotonic() from before that claim was sent
   * @returns the fleet's time of the claim, epoch milliseconds
   */
  timeOf(claimedAtMs: number, claimedAt: number): number {
    if (this.#offsetMs === null) return claimedAtMs;
    const byRecordsMs = this.#offsetMs + claimedAt;
    return Math.abs(claimedAtMs - byRecordsMs) <= AGREE_MS ? claimedAtMs : byRecordsMs;
  }

  /** @returns now, epoch milliseconds, by the record store's clock. */
  now(): number {
    const { clock } = this.deps;
    return this.#offsetMs === null ? clock.now() : this.#offsetMs + clock.monotonic();
  }

  async runOnce(): Promise<number> {
    const askedAt = this.deps.clock.monotonic();
    const nowMs = await this.deps.records.now();
    const tookMs = this.deps.clock.monotonic() - askedAt;
    this.#tookMs = [...this.#tookMs, tookMs].slice(-2);
    if (tookMs <= PROMPT_MS || this.#offsetMs === null) this.#offsetMs = nowMs - askedAt - tookMs / 2;
    return LOOK_EVERY_MS;
  }
}

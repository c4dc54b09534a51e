// How long the worker may still work on a claimed item, and what time it is for that item. A call that would end later
// than half the lease is not started: a worker that was paused (SIGSTOP, a long garbage collection) must not call the
// gateway for a card that another worker holds by now.
//
// The time is the fleet's time of the claim (fleet-clock.ts) plus what has passed since the claim was sent. So a
// worker's own clock, ahead or behind, decides neither the order of readings nor their month.
import type { Clock } from '../../platform/clock.ts';

export class Deadline {
  readonly #endsAt: number;

  /**
   * @param claimedAt clock.monotonic() from before the claim was sent.
   * @param claimedAtMs the fleet's time of the claim, epoch milliseconds.
   */
  constructor(
    private readonly clock: Clock,
    private readonly claimedAt: number,
    leaseMs: number,
    private readonly claimedAtMs: number,
  ) {
    this.#endsAt = claimedAt + leaseMs / 2;
  }

  remainingMs(): number {
    return this.#endsAt - this.clock.monotonic();
  }

  /** Now, epoch milliseconds, by the fleet's clock. */
  nowMs(): number {
    return Math.floor(this.claimedAtMs + this.clock.monotonic() - this.claimedAt);
  }
}

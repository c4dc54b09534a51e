// How long a claimed item may still be worked on, and what time it is for it. A call that would end later than half the
// lease is not started: a worker that was paused (SIGSTOP, a long garbage collection) must not call for a card another
// worker holds by now.
//
// The time is the fleet's at the claim (fleet-clock.ts) and what has passed since it was sent: no worker's own, ahead or
// behind, puts readings in order or in a month.
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

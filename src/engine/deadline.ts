// How long a claimed item may still be worked on. A call that would end later than half the lease is not started: a
// worker that was paused (SIGSTOP, a long garbage collection) must not call for a card another worker holds by now.
import type { Clock } from '../platform/clock.ts';

export class Deadline {
  readonly #endsAt: number;

  /** @param claimedAt clock.monotonic() from before the claim was sent. */
  constructor(
    private readonly clock: Clock,
    claimedAt: number,
    leaseMs: number,
  ) {
    this.#endsAt = claimedAt + leaseMs / 2;
  }

  remainingMs(): number {
    return this.#endsAt - this.clock.monotonic();
  }
}

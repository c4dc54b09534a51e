// Holds answers with 429 back for a moment: a client that asks again at once, whatever Retry-After says, would
// otherwise take more of the event loop by being refused than by being served. Used by error-handling.ts.
import type { Clock } from '../../platform/clock.ts';

const HOLD_MS = 1_000;
/** Bounds the memory; further ones are answered at once, and their connections closed. */
const MAX_HELD = 1_000;

export class HeldRefusals {
  #held = 0;

  constructor(private readonly clock: Pick<Clock, 'sleep'>) {}

  /** @returns false: too many are held; close the connection. */
  async hold(): Promise<boolean> {
    if (this.#held >= MAX_HELD) return false;
    this.#held += 1;
    await this.clock.sleep(HOLD_MS);
    this.#held -= 1;
    return true;
  }
}

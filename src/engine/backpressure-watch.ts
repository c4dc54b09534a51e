// Notices that the gateway wants fewer calls of a task type. One lone 429 is about one card, or a slip, and some among many
// successes are about some cards: it is back-pressure when at least three polls within ten seconds were answered 429 or
// 503 and they are half or more of all that say something, or the last ten of these. Used by the worker, which then pauses
// the type for the fleet; until then only the card itself waits, and the limit in force shrinks
// (concurrency-controller.ts).
import { FaultWindow } from '../gateway/fault-window.ts';
import type { Clock } from '../platform/clock.ts';

const MIN_ANSWERS = 3;
const MIN_SHARE = 0.5;
/** Nothing but refusals, after many successes. */
const ANSWERS_IN_A_ROW = 10;

export class BackpressureWatch {
  #window = new FaultWindow();

  constructor(private readonly clock: Clock) {}

  /** Notes a poll that ended. @returns true when the type should pause; counting begins anew with that. */
  note(backpressure: boolean): boolean {
    const now = this.clock.monotonic();
    this.#window.add(now, backpressure);
    if (!backpressure) return false;
    const { calls, faults, inARow } = this.#window.totals(now);
    const many = faults >= calls * MIN_SHARE || inARow >= ANSWERS_IN_A_ROW;
    if (faults < MIN_ANSWERS || !many) return false;
    this.#window = new FaultWindow();
    return true;
  }
}

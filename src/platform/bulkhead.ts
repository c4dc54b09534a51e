// Keeps one kind of work from taking what all others need: so many run at a time, and together they may use a share of
// the time. What finds no place waits in line, for a bounded time. Used by the API for expensive reads and by the store
// for connections. See docs/decisions/0037-bulkheads.md.
import pLimit, { type LimitFunction } from 'p-limit';
import { systemClock } from './clock.ts';

interface BulkheadBounds {
  /** Number that may run at a time. */
  readonly places: number;
  /** Milliseconds in line; null: as long as it takes. */
  readonly waitMs: number | null;
  /** Absent: places may be in use all the time. */
  readonly budget?: TimeBudget;
}

export interface TimeBudget {
  /** Part of the time, 0 to 1, that the work of all places together may take. */
  readonly share: number;
  /** Milliseconds of work that may be used at once after a time without any. */
  readonly burstMs: number;
  /** Milliseconds that each piece of work counts at least. */
  readonly leastMs: number;
}

/** Bounds the memory of a line: further ones are refused at once. */
const MAX_WAITING = 1_000;

export class Bulkhead {
  readonly #places: LimitFunction;
  /** Those in line, also when they have given up, and those that have a place. */
  #present = 0;
  #leftMs: number;
  #refilledMs = performance.now();

  /** @param refusal the error for what has waited too long. */
  constructor(
    private readonly bounds: BulkheadBounds,
    private readonly refusal: () => Error,
  ) {
    this.#places = pLimit(bounds.places);
    this.#leftMs = bounds.budget?.burstMs ?? 0;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves when there is a place. @returns what to call when the work is done. */
  async enter(): Promise<() => void> {
    const { places, waitMs } = this.bounds;
    if (this.#present >= places + MAX_WAITING) throw this.refusal();
    this.#present += 1;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const giveUp = () => {
        isLate = true;
        reject(this.refusal());
      };
      const timer = waitMs === null ? undefined : setTimeout(giveUp, waitMs);
      void this.#places(async () => {
        if (!isLate) await this.#refilled();
        if (!isLate) {
          clearTimeout(timer);
          await this.#timed(new Promise<void>((leave) => resolve(leave)));
        }
        this.#present -= 1;
      });
    });
  }

  async #timed(work: Promise<void>): Promise<void> {
    const startedMs = performance.now();
    await work;
    this.#leftMs -= Math.max(performance.now() - startedMs, this.bounds.budget?.leastMs ?? 0);
  }

  /** Resolves when the budget has some time left. */
  async #refilled(): Promise<void> {
    const { budget } = this.bounds;
    if (budget === undefined) return;
    for (;;) {
      const nowMs = performance.now();
      this.#leftMs = Math.min(budget.burstMs, this.#leftMs + (nowMs - this.#refilledMs) * budget.share);
      this.#refilledMs = nowMs;
      if (this.#leftMs > 0) return;
      await systemClock.sleep(Math.ceil(-this.#leftMs / budget.share) + 1);
    }
  }
}

// Keeps one kind of work from taking shared resources: limits the number of parallel pieces, and their share of the time. Work
// without a place waits in line, for a bounded time. Used by the API for expensive reads and by the store for connections.

interface BulkheadBounds {
  /** Number of parallel pieces of work. */
  readonly places: number;
  /** Longest wait in line, milliseconds; null: unlimited. */
  readonly waitMs: number | null;
  /** Absent: places may be in use all the time. */
  readonly budget?: TimeBudget;
}

export interface TimeBudget {
  /** Share of the time, 0 to 1, that the work of all places together may take. */
  readonly share: number;
  /** Milliseconds of work that may be used at once after an idle time. */
  readonly burstMs: number;
  /** Milliseconds that each piece of work counts at least. */
  readonly leastMs: number;
}

interface Waiting {
  readonly enter: () => void;
  readonly timer: NodeJS.Timeout | null;
}

/** Limits the memory of a line: further work is refused at once. */
const MAX_WAITING = 1_000;

export class Bulkhead {
  readonly #line = new Set<Waiting>();
  #running = 0;
  #leftMs: number;
  #refilledMs = performance.now();
  #refill: NodeJS.Timeout | null = null;

  /** @param refusal the error for work that has waited too long. */
  constructor(
    private readonly bounds: BulkheadBounds,
    private readonly refusal: () => Error,
  ) {
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

  /** Resolves when there is a place. @returns a function to call once when the work is done. */
  async enter(): Promise<() => void> {
    if (this.#line.size > 0 || !this.#hasPlace()) await this.#wait();
    else this.#running += 1;
    const startedMs = performance.now();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running -= 1;
      this.#leftMs -= Math.max(performance.now() - startedMs, this.bounds.budget?.leastMs ?? 0);
      this.#next();
    };
  }

  #wait(): Promise<void> {
    if (this.#line.size >= MAX_WAITING) throw this.refusal();
    const { waitMs } = this.bounds;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#line.delete(waiting);
        reject(this.refusal());
      };
      const timer = waitMs === null ? null : setTimeout(giveUp, waitMs);
      const waiting = { enter: resolve, timer };
      this.#line.add(waiting);
      this.#next();
    });
  }

  /** Admits waiting work while there are places. */
  #next(): void {
    for (const waiting of this.#line) {
      if (!this.#hasPlace()) break;
      this.#line.delete(waiting);
      if (waiting.timer !== null) clearTimeout(waiting.timer);
      this.#running += 1;
      waiting.enter();
    }
    if (this.#line.size > 0 && this.#running < this.bounds.places) this.#nextWhenRefilled();
  }

  #hasPlace(): boolean {
    if (this.#running >= this.bounds.places) return false;
    const { budget } = this.bounds;
    if (budget === undefined) return true;
    const nowMs = performance.now();
    this.#leftMs = Math.min(budget.burstMs, this.#leftMs + (nowMs - this.#refilledMs) * budget.share);
    this.#refilledMs = nowMs;
    return this.#leftMs > 0;
  }

  #nextWhenRefilled(): void {
    const { budget } = this.bounds;
    if (budget === undefined || this.#refill !== null) return;
    this.#refill = setTimeout(
      () => {
        this.#refill = null;
        this.#next();
      },
      Math.ceil(-this.#leftMs / budget.share) + 1,
    );
  }
}

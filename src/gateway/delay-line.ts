// Runs things a fixed time later, in order, with one timer for all of them. Used by the simulator for its latency: at
// 30,000 calls a second a timer each would cost more than the calls.

export class DelayLine {
  #queue: Array<{ readonly dueAt: number; readonly run: () => void }> = [];
  #head = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly delayMs: number) {}

  /** Runs `run` after the delay; synchronously when the delay is 0. */
  push(run: () => void): void {
    if (this.delayMs === 0) {
      run();
      return;
    }
    this.#queue.push({ dueAt: performance.now() + this.delayMs, run });
    this.#arm();
  }

  /** Drops all calls that still wait. */
  clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#queue = [];
    this.#head = 0;
  }

  #arm(): void {
    const next = this.#queue[this.#head];
    if (next === undefined || this.#timer !== null) return;
    this.#timer = setTimeout(() => this.#runDue(), Math.max(1, Math.ceil(next.dueAt - performance.now())));
  }

  #runDue(): void {
    this.#timer = null;
    const now = performance.now();
    for (
      let next = this.#queue[this.#head];
      next !== undefined && next.dueAt <= now;
      next = this.#queue[this.#head]
    ) {
      this.#head += 1;
      next.run();
    }
    if (this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    this.#arm();
  }
}

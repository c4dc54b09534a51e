// Gathers items into batches and processes a few batches at a time; later items wait. The result writer has two lanes: one for
// items that the record store must write, and one for all others, which therefore never wait for the record store. Knows nothing
// about results.

import type { Clock } from '../../platform/clock.ts';

const MAX_BATCH = 1_000;
/** Gathering time of a batch: long enough to share a commit, short enough for a poll. */
const GATHER_MS = 50;
const CONCURRENT_BATCHES = 2;

export class BatchLane<T> {
  #open: T[] = [];
  #running = 0;
  /** Ends the gathering of the open batch early; null while no batch is open. */
  #gathering: AbortController | null = null;
  #closed = false;

  /** @param process must not reject: it must retry by itself. */
  constructor(
    private readonly clock: Clock,
    private readonly process: (batch: readonly T[]) => Promise<void>,
  ) {}

  add(item: T): void {
    this.#open.push(item);
    if (this.#open.length >= MAX_BATCH) this.flush();
    else if (this.#gathering === null) void this.#gather();
  }

  /** Starts the open batch now. */
  flush(): void {
    this.#endGathering();
    while (this.#open.length > 0 && this.#running < CONCURRENT_BATCHES && !this.#closed) {
      this.#running += 1;
      void this.process(this.#open.splice(0, MAX_BATCH)).finally(() => {
        this.#running -= 1;
        this.flush();
      });
    }
  }

  /** Starts no further batch. */
  close(): void {
    this.#closed = true;
    this.#endGathering();
  }

  async #gather(): Promise<void> {
    this.#gathering = new AbortController();
    const { signal } = this.#gathering;
    await this.clock.sleep(GATHER_MS, signal);
    if (!signal.aborted) this.flush();
  }

  #endGathering(): void {
    this.#gathering?.abort('flushed');
    this.#gathering = null;
  }
}

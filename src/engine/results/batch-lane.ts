// Gathers items into batches and has them processed, a few batches at a time; what comes meanwhile waits its turn. Used
// by the result writer, once for what the record store has to write and once for what it has not, so that the second
// never waits behind the first. Knows nothing about results.

import type { Clock } from '../../platform/clock.ts';

const MAX_BATCH = 1_000;
/** Items are gathered this long before they are processed: the price of a commit is shared, a poll is not delayed. */
const GATHER_MS = 50;
const CONCURRENT_BATCHES = 2;

export class BatchLane<T> {
  #open: T[] = [];
  #running = 0;
  /** Ends the gathering of what is open; null while nothing gathers. */
  #gathering: AbortController | null = null;
  #closed = false;

  /** @param process must not reject: it retries by itself. */
  constructor(
    private readonly clock: Clock,
    private readonly process: (batch: readonly T[]) => Promise<void>,
  ) {}

  add(item: T): void {
    this.#open.push(item);
    if (this.#open.length >= MAX_BATCH) this.flush();
    else if (this.#gathering === null) void this.#gather();
  }

  /** Gathers no longer. */
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

  /** Begins no further batch. */
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
    this.#gathering?.abort();
    this.#gathering = null;
  }
}

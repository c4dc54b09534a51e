// Gathers items into batches and has them processed, a few batches at a time; what comes meanwhile waits its turn. Used
// by the result writer, once for what the record store has to write and once for what it has not, so that the second
// never waits behind the first. Knows nothing about results.

const MAX_BATCH = 1_000;
/** Items are gathered this long before they are processed: the price of a commit is shared, a poll is not delayed. */
const GATHER_MS = 50;
const CONCURRENT_BATCHES = 2;

export class BatchLane<T> {
  #open: T[] = [];
  #running = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** @param process must not reject: it retries by itself. */
  constructor(private readonly process: (batch: readonly T[]) => Promise<void>) {}

  add(item: T): void {
    this.#open.push(item);
    if (this.#open.length >= MAX_BATCH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Gathers no longer. */
  flush(): void {
    this.#stopTimer();
    while (this.#open.length > 0 && this.#running < CONCURRENT_BATCHES && !this.#closed) {
      this.#running += 1;
      void this.process(this.#open.splice(0, MAX_BATCH)).finally(() => {
        this.#running -= 1;
        if (this.#open.length > 0) this.flush();
      });
    }
  }

  /** Begins no further batch. */
  close(): void {
    this.#closed = true;
    this.#stopTimer();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

// Runs one pass of a service again and again until it is stopped. A pass that throws is reported and tried again
// later with growing pauses: below a loop code throws, only the loop catches.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from './service.ts';

export interface LoopOptions {
  readonly name: string;
  /** One pass. Returns the milliseconds to rest before the next one. The signal aborts when the loop stops. */
  readonly runOnce: (signal: AbortSignal) => Promise<number>;
  readonly onError: (error: unknown, retryInMs: number) => void;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

export class Loop implements Service {
  readonly name: string;
  #abort = new AbortController();
  #wake = new AbortController();
  #done: Promise<void> = Promise.resolve();
  #failures = 0;

  constructor(private readonly options: LoopOptions) {
    this.name = options.name;
  }

  async start(): Promise<void> {
    this.#abort = new AbortController();
    this.#done = this.#run(this.#abort.signal);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    this.#wake.abort();
    await this.#done;
  }

  /** Ends the present rest at once. */
  wake(): void {
    this.#wake.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const restMs = await this.#pass(signal);
      if (signal.aborted) break;
      this.#wake = new AbortController();
      await sleep(restMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  async #pass(signal: AbortSignal): Promise<number> {
    try {
      const restMs = await this.options.runOnce(signal);
      this.#failures = 0;
      return restMs;
    } catch (error) {
      if (signal.aborted) return 0;
      const retryInMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.options.onError(error, retryInMs);
      return retryInMs;
    }
  }
}

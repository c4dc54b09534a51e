// A service that runs one pass again and again until it is stopped. A pass that throws is reported and tried again
// later with growing pauses: below a loop code throws, only the loop catches.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Service } from './service.ts';

export type LoopErrorHandler = (error: unknown, retryInMs: number) => void;

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

export abstract class LoopService implements Service {
  #abort = new AbortController();
  /** Ends the present rest; does nothing while a pass runs. */
  #endRest = () => {};
  #done: Promise<void> = Promise.resolve();
  #failures = 0;
  #passes = 0;

  constructor(
    readonly name: string,
    private readonly onLoopError: LoopErrorHandler,
  ) {}

  /** Passes that ended, in whatever way: a loop that comes round is not stuck, also while what it asks is away. */
  get passes(): number {
    return this.#passes;
  }

  /** One pass. Returns the milliseconds to rest before the next one. The signal aborts when the loop stops. */
  abstract runOnce(signal: AbortSignal): Promise<number>;

  async start(): Promise<void> {
    this.#abort = new AbortController();
    this.#done = this.#run(this.#abort.signal);
  }

  /** Lets the pass under way finish and starts no other. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#endRest();
    await this.#done;
  }

  /** Ends the present rest at once; does nothing while a pass runs. */
  protected wake(): void {
    this.#endRest();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const restMs = await this.#pass(signal);
      if (signal.aborted) break;
      if (restMs > 0) await this.#rest(restMs);
      else await nextTurn();
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #pass(signal: AbortSignal): Promise<number> {
    try {
      const restMs = await this.runOnce(signal);
      this.#failures = 0;
      return restMs;
    } catch (error) {
      if (signal.aborted) return 0;
      const retryInMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.onLoopError(error, retryInMs);
      return retryInMs;
    } finally {
      this.#passes += 1;
    }
  }
}

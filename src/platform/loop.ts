// A service that runs one pass again and again until it is stopped. A pass that throws is reported and tried again
// later with growing pauses: below a loop code throws, only the loop catches.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import type { Service } from './service.ts';

export type LoopErrorHandler = (error: unknown, retryInMs: number) => void;

/** What a loop rests by, and whom it tells of a pass that threw. */
export interface LoopMeans {
  readonly clock: Clock;
  readonly onError: LoopErrorHandler;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

export abstract class LoopService implements Service {
  /** Ends the loop that was started last; null before the first. */
  #loop: AbortController | null = null;
  /** Ends the rest that began last. */
  #rest: AbortController | null = null;
  #done: Promise<void> = Promise.resolve();
  #failures = 0;
  /** The longest pause after a pass that threw. */
  protected readonly maxRetryMs: number = MAX_RETRY_MS;
  #passes = 0;

  constructor(
    readonly name: string,
    private readonly means: LoopMeans,
  ) {}

  /** Passes that ended, in whatever way: a loop that comes round is not stuck, also while what it asks is away. */
  get passes(): number {
    return this.#passes;
  }

  /** One pass. Returns the milliseconds to rest before the next one. The signal aborts when the loop stops. */
  abstract runOnce(signal: AbortSignal): Promise<number>;

  /** Does nothing while it runs. After a stop it begins anew, when the last pass has ended. */
  async start(): Promise<void> {
    if (this.#loop?.signal.aborted === false) return;
    this.#loop = new AbortController();
    const { signal } = this.#loop;
    this.#done = this.#done.then(() => this.#run(signal));
  }

  /** Lets the pass under way finish and starts no other. */
  async stop(): Promise<void> {
    this.#loop?.abort();
    this.wake();
    await this.#done;
  }

  /** Ends the present rest at once; does nothing while a pass runs. */
  protected wake(): void {
    // With a reason, or an error is made for it.
    this.#rest?.abort('woken');
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const restMs = await this.#pass(signal);
      if (signal.aborted) break;
      this.#rest = new AbortController();
      if (restMs > 0) await this.means.clock.sleep(restMs, this.#rest.signal);
      else await nextTurn();
    }
  }

  async #pass(signal: AbortSignal): Promise<number> {
    try {
      const restMs = await this.runOnce(signal);
      if (Number.isNaN(restMs)) throw new RangeError(`${this.name}: a pass returned NaN as its rest`);
      this.#failures = 0;
      return restMs;
    } catch (error) {
      if (signal.aborted) return 0;
      const retryInMs = Math.min(this.maxRetryMs, FIRST_RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.means.onError(error, retryInMs);
      return retryInMs;
    } finally {
      this.#passes += 1;
    }
  }
}

// A service that repeats one pass until it is stopped. A pass that throws is reported and retried with growing pauses: code below
// a loop throws, and only the loop catches. Also the log of failures, and the pulse of loops for the watchdog.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { CardpollError, messageOf } from './errors.ts';
import type { Logger } from './logger.ts';
import type { Service } from './service.ts';

export type LoopErrorHandler = (error: unknown, retryInMs: number) => void;

/** A loop's clock, and the handler for a pass that threw. */
export interface LoopDeps {
  readonly clock: Clock;
  readonly onError: LoopErrorHandler;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

/** @typeParam Deps the dependencies of the service, including the loop's. */
export abstract class LoopService<Deps extends LoopDeps = LoopDeps> implements Service {
  abstract readonly name: string;
  /** Ends the last started loop; null before the first start. */
  #loop: AbortController | null = null;
  /** Ends the current pause. */
  #rest: AbortController | null = null;
  #done: Promise<void> = Promise.resolve();
  #failures = 0;
  #failing: { readonly since: number; readonly error: unknown } | null = null;
  /** Maximum pause after a pass that threw, in milliseconds. */
  protected readonly maxRetryMs: number = MAX_RETRY_MS;
  #passes = 0;

  constructor(protected readonly deps: Deps) {}

  /** Number of passes that ended, with or without an error: a loop whose passes end is not stuck, even during an outage. */
  get passes(): number {
    return this.#passes;
  }

  /** Since when its passes have failed, by the monotonic clock, and the last error; null: the last pass succeeded. */
  get failing(): { readonly since: number; readonly error: unknown } | null {
    return this.#failing;
  }

  /** One pass. Returns the milliseconds until the next one. The signal aborts when the loop stops. */
  abstract runOnce(signal: AbortSignal): Promise<number>;

  /** Does nothing while the loop runs. After a stop it starts again when the last pass has ended. */
  async start(): Promise<void> {
    if (this.#loop?.signal.aborted === false) return;
    this.#loop = new AbortController();
    const { signal } = this.#loop;
    this.#done = this.#done.then(() => this.#run(signal));
  }

  /** Lets the current pass finish and starts no other. */
  async stop(): Promise<void> {
    this.#loop?.abort();
    this.wake();
    await this.#done;
  }

  /** Ends the current pause at once; has no effect while a pass runs. */
  protected wake(): void {
    // Without a reason abort() would create an error.
    this.#rest?.abort('woken');
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const restMs = await this.#pass(signal);
      if (signal.aborted) break;
      this.#rest = new AbortController();
      if (restMs > 0) await this.deps.clock.sleep(restMs, this.#rest.signal);
      else await nextTurn();
    }
  }

  async #pass(signal: AbortSignal): Promise<number> {
    try {
      const restMs = await this.runOnce(signal);
      if (Number.isNaN(restMs)) throw new RangeError(`${this.name}: a pass returned NaN as its rest`);
      this.#failures = 0;
      this.#failing = null;
      return restMs;
    } catch (error) {
      if (signal.aborted) return 0;
      const retryInMs = Math.min(this.maxRetryMs, FIRST_RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#failing = { since: this.#failing?.since ?? this.deps.clock.monotonic(), error };
      this.deps.onError(error, retryInMs);
      return retryInMs;
    } finally {
      this.#passes += 1;
    }
  }
}

/** Longer than a failover or a restart of a store takes. */
const FAILS_AFTER_MS = 60_000;

/** A loop that has failed for a minute. */
interface FailingPart {
  readonly part: string;
  readonly forMs: number;
  readonly reason: string;
}

/**
 * @returns the loop that has failed longest, for a minute or more; null: none. Failures of a store or a server that does not
 * answer are not counted: the outage has separate reasons, and all loops fail with it.
 */
export function failingPart(
  loops: readonly Pick<LoopService, 'name' | 'failing'>[],
  clock: Clock,
): FailingPart | null {
  const failing = loops.flatMap(({ name: part, failing }) => {
    if (failing === null) return [];
    const { error, since } = failing;
    const forMs = clock.monotonic() - since;
    const isOutage = error instanceof CardpollError && ['unavailable', 'busy'].includes(error.kind);
    return isOutage || forMs < FAILS_AFTER_MS ? [] : [{ part, forMs, reason: messageOf(error) }];
  });
  return failing.sort((a, b) => b.forMs - a.forMs)[0] ?? null;
}

const REPEAT_AFTER_MS = 10_000;
/** Messages may vary without limit (ports, durations): beyond this many, all are forgotten. */
const MAX_REMEMBERED = 1_000;

/**
 * Logs the failures of the engine's services: each failure at once and then every ten seconds at most, so that an outage of a
 * store does not fill the disk with the same line.
 */
export class ErrorReporter {
  readonly #reportedAt = new Map<string, number>();

  constructor(
    private readonly log: Logger,
    private readonly clock: Clock,
  ) {}

  /** @returns the error handler of one service; `part` is its name in the log. */
  for(part: string): LoopErrorHandler {
    return (error, retryInMs) => {
      const reason = messageOf(error);
      const key = `${part}: ${reason}`;
      const now = this.clock.monotonic();
      if (now - (this.#reportedAt.get(key) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return;
      if (this.#reportedAt.size >= MAX_REMEMBERED) this.#reportedAt.clear();
      this.#reportedAt.set(key, now);
      this.log.error({ part, reason, retry_in_ms: retryInMs }, 'part of the engine failed');
    };
  }
}

interface Pulsing {
  readonly name: string;
  /** Grows with every pass. */
  readonly passes: number;
}

/** Longer than the longest pause after a failure (5 s) and the deadlines of a pass (3 s per command) together. */
const STUCK_AFTER_MS = 15_000;

interface Seen {
  readonly passes: number;
  readonly at: number;
}

/**
 * Finds loops that are stuck. A loop that pauses, has nothing to do or fails because a store is unavailable still completes
 * passes: all of these are bounded. A loop that completes none waits for something that will never happen, and only a restart
 * of the process helps.
 */
export class Pulse {
  readonly #seen = new Map<Pulsing, Seen>();

  constructor(
    private readonly loops: readonly Pulsing[],
    private readonly clock: Clock,
  ) {}

  /** Names of the loops that completed no pass for 15 s. Only calls of this method observe the loops, so call it often. */
  stuck(): string[] {
    const now = this.clock.monotonic();
    return this.loops
      .filter((loop) => now - this.#lastMoved(loop, now) > STUCK_AFTER_MS)
      .map(({ name }) => name);
  }

  #lastMoved(loop: Pulsing, now: number): number {
    const seen = this.#seen.get(loop);
    if (seen !== undefined && seen.passes === loop.passes) return seen.at;
    this.#seen.set(loop, { passes: loop.passes, at: now });
    return now;
  }
}

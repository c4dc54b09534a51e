// Logs the failures of the engine's services: each failure at once and then every ten seconds at most, so that an
// outage of a store does not fill the disk with the same line.
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import type { LoopErrorHandler } from '../platform/loop.ts';

const REPEAT_AFTER_MS = 10_000;
/** Messages may vary without limit (ports, durations): past this many, all are forgotten. */
const MAX_REMEMBERED = 1_000;

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

// Why polls fail, and for which cards. Used by routes/polling-stats.ts.
import type { TaskType } from '../domain/task-type.ts';

/** The last failure of a card that has not been polled successfully since. */
export interface FailingCard {
  readonly cardId: number;
  readonly at: Date;
  /** What kind of failure: `timeout`, `connect`, `backpressure`, `server_error` ... as in the log's `error`. */
  readonly reason: string;
  /** What the gateway said, shortened. */
  readonly message: string;
  readonly durationMs: number;
  /** Failures in a row. */
  readonly attempts: number;
}

export interface TaskFailures {
  readonly taskType: TaskType;
  /** Over the last five minutes, the most frequent first. */
  readonly reasons: ReadonlyArray<{ readonly reason: string; readonly count: number }>;
  /** Cards that are failing; at most the last 10,000 are kept. */
  readonly failingCards: number;
  /** The latest of them. */
  readonly cards: readonly FailingCard[];
}

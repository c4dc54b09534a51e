// Port section of live-store.ts: why polls of single cards failed.
import type { TaskType } from '../../../domain/task-type.ts';

/** Why a card's last poll failed. */
export interface FailureNote {
  readonly cardId: number;
  /** The kind of failure, as the log's `error` field shows it. */
  readonly reason: string;
  readonly message: string;
  readonly durationMs: number;
}

export interface NotedFailure extends FailureNote {
  readonly atMs: number;
  /** Number of failed scheduled polls in a row; 0 when the card has been polled successfully since. */
  readonly failuresInARow: number;
}

/** For each task type, the latest failures of this many cards are stored. */
export const MAX_FAILURES_NOTED = 10_000;

/** Stores why polls of single cards failed, for reports about a card. */
export interface FailureLog {
  /** Stores the failures, in place of what was stored about these cards. */
  note(taskType: TaskType, failures: readonly FailureNote[]): Promise<void>;
  /** @returns the last failure by card id; without cards that never failed, or after which MAX_FAILURES_NOTED others failed. */
  last(taskType: TaskType, cardIds: readonly number[]): Promise<ReadonlyMap<number, NotedFailure>>;
  /** @returns the number of failing cards, and the `max` (up to 100) of them that failed last, latest first. */
  failing(taskType: TaskType, max: number): Promise<{ total: number; latest: readonly NotedFailure[] }>;
}

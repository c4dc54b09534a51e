// Port section of live-store.ts: why polls of single cards failed.
import type { TaskType } from '../../../domain/task-type.ts';

/** What kept a card's last poll from an answer. */
export interface FailureNote {
  readonly cardId: number;
  /** Kind of failure. */
  readonly reason: string;
  readonly message: string;
  readonly durationMs: number;
}

export interface NotedFailure extends FailureNote {
  readonly atMs: number;
  /** Failures of scheduled polls in a row; 0 when the card has been polled successfully since. */
  readonly inARow: number;
}

/** Cards whose last failure is remembered, a task type: the latest. */
export const MAX_FAILURES_NOTED = 10_000;

/** Remembers why polls of single cards failed, for whoever asks about a card. */
export interface FailureLog {
  /** Replaces what was noted of these cards. */
  note(taskType: TaskType, failures: readonly FailureNote[]): Promise<void>;
  /** null: it never failed, or many others failed later. */
  last(taskType: TaskType, cardId: number): Promise<NotedFailure | null>;
  /** @returns how many cards fail now, and those of them that failed last, the latest first; at most `max`, up to 100. */
  failing(taskType: TaskType, max: number): Promise<{ total: number; latest: readonly NotedFailure[] }>;
}

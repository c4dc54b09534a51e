// Why cards last failed, in this process's memory. A Map keeps the order in which failures were noted.
import { perTaskType, type TaskType } from '../../../domain/task-type.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type FailureLog,
  type FailureNote,
  MAX_FAILURES_NOTED,
  type NotedFailure,
} from '../../ports/live/failure-log.ts';

type Noted = Omit<NotedFailure, 'failuresInARow'>;

export class EmbeddedFailureLog implements FailureLog {
  readonly #noted = perTaskType(() => new Map<number, Noted>());

  constructor(
    private readonly clock: Clock,
    /** Failures in a row of the failing cards, by card id. */
    private readonly failures: (taskType: TaskType) => ReadonlyMap<number, number>,
  ) {}

  async note(taskType: TaskType, failures: readonly FailureNote[]): Promise<void> {
    const noted = this.#noted[taskType];
    for (const failure of failures) {
      noted.delete(failure.cardId);
      noted.set(failure.cardId, { ...failure, atMs: this.clock.now() });
    }
    for (const cardId of noted.keys()) {
      if (noted.size <= MAX_FAILURES_NOTED) break;
      noted.delete(cardId);
    }
  }

  async last(taskType: TaskType, cardIds: readonly number[]): Promise<ReadonlyMap<number, NotedFailure>> {
    const noted = cardIds.flatMap((cardId) => this.#noted[taskType].get(cardId) ?? []);
    return new Map(noted.map((one) => [one.cardId, this.#withRow(taskType, one)]));
  }

  async failing(
    taskType: TaskType,
    max: number,
  ): Promise<{ total: number; latest: readonly NotedFailure[] }> {
    const latest = [...this.#noted[taskType].values()]
      .reverse()
      .map((noted) => this.#withRow(taskType, noted))
      .filter(({ failuresInARow }) => failuresInARow > 0)
      .slice(0, max);
    return { total: this.failures(taskType).size, latest };
  }

  #withRow(taskType: TaskType, noted: Noted): NotedFailure {
    return { ...noted, failuresInARow: this.failures(taskType).get(noted.cardId) ?? 0 };
  }
}

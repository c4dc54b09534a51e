// Why cards last failed, in this process's memory. A Map keeps the order of the failures.
import { perTaskType, type TaskType } from '../../../domain/task-type.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type FailureLog, MAX_FAILURES_NOTED, type NotedFailure } from '../../ports/live/poll-stats.ts';
import type { WorkState } from './work-state.ts';

type Noted = Omit<NotedFailure, 'failuresInARow'>;

export function embeddedFailureLog(clock: Clock, types: Readonly<Record<TaskType, WorkState>>): FailureLog {
  const notes = perTaskType(() => new Map<number, Noted>());

  function withRow(taskType: TaskType, noted: Noted): NotedFailure {
    return { ...noted, failuresInARow: types[taskType].failures.get(noted.cardId) ?? 0 };
  }

  return {
    async note(taskType, failures) {
      const noted = notes[taskType];
      for (const failure of failures) {
        noted.delete(failure.cardId);
        noted.set(failure.cardId, { ...failure, atMs: clock.now() });
      }
      for (const cardId of noted.keys()) {
        if (noted.size <= MAX_FAILURES_NOTED) break;
        noted.delete(cardId);
      }
    },

    async last(taskType, cardIds) {
      const noted = cardIds.flatMap((cardId) => notes[taskType].get(cardId) ?? []);
      return new Map(noted.map((one) => [one.cardId, withRow(taskType, one)]));
    },

    async failing(taskType, max) {
      const latest = [...notes[taskType].values()]
        .reverse()
        .map((noted) => withRow(taskType, noted))
        .filter(({ failuresInARow }) => failuresInARow > 0)
        .slice(0, max);
      return { total: types[taskType].failures.size, latest };
    },
  };
}

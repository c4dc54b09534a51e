// Why cards last failed, in Redis: one note for each card, and its time; the oldest notes are removed. The failures in
// a row, which the work queue counts, show whether a card still fails.
import type { TaskType } from '../../../domain/task-type.ts';
import {
  type FailureLog,
  type FailureNote,
  MAX_FAILURES_NOTED,
  type NotedFailure,
} from '../../ports/live/failure-log.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const NOTES_PER_CALL = 1_000;
/** This many of the latest notes are searched for cards that still fail. */
const LATEST = 1_000;

interface PackedNote {
  readonly reason: string;
  readonly message: string;
  readonly duration_ms: number;
}

export class RedisFailureLog implements FailureLog {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async note(taskType: TaskType, failures: readonly FailureNote[]): Promise<void> {
    const names = [this.keys.failureNotes(taskType), this.keys.failureTimes(taskType)];
    for (let from = 0; from < failures.length; from += NOTES_PER_CALL) {
      const notes = failures.slice(from, from + NOTES_PER_CALL).flatMap(packed);
      await this.client.script('failuresNote', names, [MAX_FAILURES_NOTED, ...notes]);
    }
  }

  async last(taskType: TaskType, cardIds: readonly number[]): Promise<ReadonlyMap<number, NotedFailure>> {
    const noted = await this.#noted(taskType, cardIds);
    return new Map(noted.map((one) => [one.cardId, one]));
  }

  async failing(
    taskType: TaskType,
    max: number,
  ): Promise<{ total: number; latest: readonly NotedFailure[] }> {
    const [total, cardIds] = (await Promise.all([
      this.client.command('HLEN', this.keys.failures(taskType)),
      this.client.command('ZREVRANGE', this.keys.failureTimes(taskType), 0, LATEST - 1),
    ])) as [number, string[]];
    const noted = await this.#noted(taskType, cardIds.map(Number));
    return { total, latest: noted.filter(({ failuresInARow }) => failuresInARow > 0).slice(0, max) };
  }

  async #noted(taskType: TaskType, cardIds: readonly number[]): Promise<NotedFailure[]> {
    if (cardIds.length === 0) return [];
    const { client, keys } = this;
    const [notes, times, failuresInARow] = (await Promise.all([
      client.command('HMGET', keys.failureNotes(taskType), ...cardIds),
      client.command('ZMSCORE', keys.failureTimes(taskType), ...cardIds),
      client.command('HMGET', keys.failures(taskType), ...cardIds),
    ])) as [Array<string | null>, Array<string | null>, Array<string | null>];
    return cardIds.flatMap((cardId, i) => {
      const [note, atMs] = [notes[i], times[i]];
      if (note == null || atMs == null) return [];
      const { reason, message, duration_ms } = JSON.parse(note) as PackedNote;
      return {
        cardId,
        reason,
        message,
        durationMs: duration_ms,
        atMs: Number(atMs),
        failuresInARow: Number(failuresInARow[i] ?? 0),
      };
    });
  }
}

function packed({ cardId, reason, message, durationMs }: FailureNote): [number, string] {
  const note: PackedNote = { reason, message, duration_ms: durationMs };
  return [cardId, JSON.stringify(note)];
}

// Why cards last failed, in Redis: one note for each card, and its time; the oldest notes are removed. The failures in a row,
// which the work queue counts, show whether a card still fails.

import type { TaskType } from '../../../domain/task-type.ts';
import { camelKeys, snakeKeys } from '../../../platform/snake-keys.ts';
import {
  type FailureLog,
  type FailureNote,
  MAX_FAILURES_NOTED,
  type NotedFailure,
} from '../../ports/live/poll-stats.ts';
import { inChunks, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const NOTES_PER_CALL = 1_000;
/** This many of the latest notes are searched for cards that still fail. */
const LATEST = 1_000;

export function redisFailureLog(client: RedisClient, keys: Keys): FailureLog {
  async function notedOf(taskType: TaskType, cardIds: readonly number[]): Promise<NotedFailure[]> {
    if (cardIds.length === 0) return [];
    const [notes, times, failuresInARow] = (await Promise.all([
      client.command('HMGET', keys.failureNotes(taskType), ...cardIds),
      client.command('ZMSCORE', keys.failureTimes(taskType), ...cardIds),
      client.command('HMGET', keys.failures(taskType), ...cardIds),
    ])) as [Array<string | null>, Array<string | null>, Array<string | null>];
    return cardIds.flatMap((cardId, i) => {
      const [note, atMs] = [notes[i], times[i]];
      if (note == null || atMs == null) return [];
      const noted = camelKeys(JSON.parse(note)) as Omit<FailureNote, 'cardId'>;
      return { cardId, ...noted, atMs: Number(atMs), failuresInARow: Number(failuresInARow[i] ?? 0) };
    });
  }

  return {
    async note(taskType, failures) {
      const names = keys.ofScript('failuresNote', taskType);
      await inChunks(failures, NOTES_PER_CALL, async (chunk) => {
        await client.script('failuresNote', names, [MAX_FAILURES_NOTED, ...chunk.flatMap(packed)]);
      });
    },

    async last(taskType, cardIds) {
      return new Map((await notedOf(taskType, cardIds)).map((one) => [one.cardId, one]));
    },

    async failing(taskType, max) {
      const [total, cardIds] = (await Promise.all([
        client.command('HLEN', keys.failures(taskType)),
        client.command('ZREVRANGE', keys.failureTimes(taskType), 0, LATEST - 1),
      ])) as [number, string[]];
      const noted = await notedOf(taskType, cardIds.map(Number));
      return { total, latest: noted.filter(({ failuresInARow }) => failuresInARow > 0).slice(0, max) };
    },
  };
}

function packed({ cardId, ...note }: FailureNote): [number, string] {
  return [cardId, JSON.stringify(snakeKeys(note))];
}

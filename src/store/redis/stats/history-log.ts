// Samples and problems in Redis: one hash for each step, whose fields are reused, so that its size is bounded.
import { type HistorySample, SAMPLE_FIELDS, slotOf, type TaskSample } from '../../../domain/stats/history.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import type { HealthLog, HistoryLog } from '../../ports/live/history-log.ts';
import { pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

/** A task type's numbers in the order of SAMPLE_FIELDS. */
type PackedSample = { readonly at_ms: number } & Readonly<Record<TaskType, ReadonlyArray<number | null>>>;

export function redisHistoryLog(client: RedisClient, keys: Keys): HistoryLog {
  return {
    async save(step, sample) {
      await client.command('HSET', keys.history(step), slotOf(step, sample.atMs), pack(sample));
    },

    async read(step, sinceMs) {
      const texts = (await client.command('HVALS', keys.history(step))) as string[];
      const samples = texts.map(unpack).filter(({ atMs }) => atMs >= sinceMs);
      return samples.sort((a, b) => a.atMs - b.atMs);
    },
  };
}

function pack({ atMs, tasks }: HistorySample): string {
  const numbers = TASK_TYPES.map((taskType) => [
    taskType,
    SAMPLE_FIELDS.map((field) => tasks[taskType][field]),
  ]);
  return JSON.stringify({ at_ms: atMs, ...Object.fromEntries(numbers) });
}

function unpack(text: string): HistorySample {
  const { at_ms: atMs, ...packed } = JSON.parse(text) as PackedSample;
  const tasks = TASK_TYPES.map((taskType) => [
    taskType,
    Object.fromEntries(
      SAMPLE_FIELDS.map((field, i) => [field, packed[taskType][i] ?? null]),
    ) as unknown as TaskSample,
  ]);
  return { atMs, tasks: Object.fromEntries(tasks) };
}

/** A hash with the time at which each problem began and until when it counts as existing. Redis' clock decides. */
export function redisHealthLog(client: RedisClient, keys: Keys): HealthLog {
  async function noteAndRead(
    holdsMs: number,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const flat = (await client.script('healthNote', [keys.health], [holdsMs, ...names])) as string[];
    return new Map([...pairsOf(flat)].map(([name, first]) => [name, Number(first)]));
  }

  return {
    async note(names, holdsMs) {
      await noteAndRead(holdsMs, names);
    },
    since: () => noteAndRead(0, []),
  };
}

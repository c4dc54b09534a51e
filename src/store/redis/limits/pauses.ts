// Pauses of task types in Redis. Used by work-queue.ts; the rules are in work-pause.lua.
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import type { Pause, PauseSource, WorkQueue } from '../../ports/live/work-queue.ts';
import { pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

export function redisPauses(client: RedisClient, keys: Keys): Pick<WorkQueue, 'pause' | 'resume' | 'pauses'> {
  return {
    async pause(taskType, { source, ms, reason, by }) {
      const args = [source, Math.ceil(ms), JSON.stringify({ reason, by })];
      await client.script('workPause', [keys.pauses(taskType)], args);
    },

    async resume(taskType) {
      return pausesOf(taskType, await client.script('workResume', [keys.pauses(taskType)]));
    },

    async pauses() {
      const found = TASK_TYPES.map(async (taskType) =>
        pausesOf(taskType, await client.script('workPauses', [keys.pauses(taskType)])),
      );
      return (await Promise.all(found)).flat();
    },
  };
}

function pausesOf(taskType: TaskType, reply: unknown): Pause[] {
  return [...pairsOf(reply as string[])].map(([source, entry]) => {
    const [, since, until, details = ''] = /^(\S+) (\S+) (.*)$/s.exec(entry) ?? [];
    const { reason, by } = JSON.parse(details) as Pick<Pause, 'reason' | 'by'>;
    const times = { sinceMs: Number(since), untilMs: Number(until) };
    return { taskType, source: source as PauseSource, reason, by, ...times };
  });
}

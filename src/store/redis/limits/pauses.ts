// Pauses of task types in Redis. Used by work-queue.ts; the rules are in work-pause.lua.
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import type { Pause, PauseRequest, PauseSource } from '../../ports/live/work-queue.ts';
import { pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

export class RedisPauses {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async pause(taskType: TaskType, { source, ms, reason, by }: PauseRequest): Promise<void> {
    const args = [source, Math.ceil(ms), JSON.stringify({ reason, by })];
    await this.client.script('workPause', [this.keys.pauses(taskType)], args);
  }

  async resume(taskType: TaskType): Promise<Pause[]> {
    return pausesOf(taskType, await this.client.script('workResume', [this.keys.pauses(taskType)]));
  }

  async list(): Promise<Pause[]> {
    const found = TASK_TYPES.map(async (taskType) =>
      pausesOf(taskType, await this.client.script('workPauses', [this.keys.pauses(taskType)])),
    );
    return (await Promise.all(found)).flat();
  }
}

function pausesOf(taskType: TaskType, reply: unknown): Pause[] {
  return [...pairsOf(reply as string[])].map(([source, entry]) => {
    const [, since, until, details = ''] = /^(\S+) (\S+) (.*)$/s.exec(entry) ?? [];
    const { reason, by } = JSON.parse(details) as Pick<Pause, 'reason' | 'by'>;
    const times = { sinceMs: Number(since), untilMs: Number(until) };
    return { taskType, source: source as PauseSource, reason, by, ...times };
  });
}

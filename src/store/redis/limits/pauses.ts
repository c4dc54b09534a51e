// Pauses of task types in Redis. Used by work-queue.ts; the rules are in work-pause.lua.
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import type { Pause, PauseRequest, PauseSource } from '../../ports/live/work-queue.ts';
import type { RedisClient } from '../client/client.ts';
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
  const pauses: Pause[] = [];
  const parts = reply as string[];
  for (let i = 0; i < parts.length; i += 2) {
    const [, since, until, details] = /^(\S+) (\S+) (.*)$/s.exec(parts[i + 1] as string) ?? [];
    const { reason, by } = JSON.parse(details as string) as { reason: string; by: string };
    pauses.push({
      taskType,
      source: parts[i] as PauseSource,
      reason,
      by,
      sinceMs: Number(since),
      untilMs: Number(until),
    });
  }
  return pauses;
}

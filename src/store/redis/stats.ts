// Statistics in Redis: totals in polling:stats:<type>, the rolling window in ten-second slots beside it.
import type { TaskType } from '../../domain/task-type.ts';
import { type PollStats, STATS_WINDOW_SECONDS, type StatsDelta, type StatsReading } from '../live-store.ts';
import type { RedisClient } from './client.ts';
import type { Keys } from './keys.ts';

const SLOT_SECONDS = 10;

export class RedisPollStats implements PollStats {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async record(taskType: TaskType, workerId: string, flushNumber: number, delta: StatsDelta): Promise<void> {
    const { keys } = this;
    await this.client.script(
      'statsRecord',
      [keys.stats(taskType), keys.statsWindow(taskType), keys.statsFlushes(taskType)],
      [
        workerId,
        flushNumber,
        delta.succeeded,
        delta.failed,
        delta.durationMs,
        STATS_WINDOW_SECONDS,
        SLOT_SECONDS,
      ],
    );
  }

  async read(taskType: TaskType): Promise<StatsReading> {
    const names = [this.keys.stats(taskType), this.keys.statsWindow(taskType)];
    const [now, since, total, succeeded, failed, slots] = (await this.client.script('statsRead', names)) as [
      string,
      string | null,
      string | null,
      string | null,
      string | null,
      string[],
    ];
    const nowMs = Number(now);
    const oldest = Math.floor(nowMs / 1000 / SLOT_SECONDS) - STATS_WINDOW_SECONDS / SLOT_SECONDS + 1;
    const window = { succeeded: 0, failed: 0, durationMs: 0 };
    for (let i = 0; i < slots.length; i += 2) {
      if (Number(slots[i]) < oldest) continue;
      const [s = 0, f = 0, d = 0] = (slots[i + 1] as string).split(' ').map(Number);
      window.succeeded += s;
      window.failed += f;
      window.durationMs += d;
    }
    // Counting that began a minute ago has a window of one minute.
    const startMs = Math.max(oldest * SLOT_SECONDS * 1000, since === null ? 0 : Number(since));
    return {
      total: Number(total),
      succeeded: Number(succeeded),
      failed: Number(failed),
      window: { ...window, seconds: Math.max(1, (nowMs - startMs) / 1000) },
    };
  }
}

// Statistics in Redis: totals in polling:stats:<type>, the rolling window in ten-second slots beside it.
import type { TaskType } from '../../domain/task-type.ts';
import {
  type PollStats,
  STATS_SLOT_SECONDS,
  STATS_WINDOW_SECONDS,
  type StatsDelta,
  type StatsReading,
} from '../live-store.ts';
import type { RedisClient } from './client.ts';
import type { Keys } from './keys.ts';

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
        STATS_SLOT_SECONDS,
        delta.backpressure ?? 0,
        delta.timeouts ?? 0,
        delta.succeededMs ?? 0,
        delta.limitReached ?? 0,
      ],
    );
  }

  async read(taskType: TaskType): Promise<StatsReading> {
    const names = [this.keys.stats(taskType), this.keys.statsWindow(taskType)];
    const [now, since, total, succeeded, failed, slots, ...causes] = (await this.client.script(
      'statsRead',
      names,
    )) as [
      string,
      string | null,
      string | null,
      string | null,
      string | null,
      string[],
      ...Array<string | null>,
    ];
    const nowMs = Number(now);
    const present = Math.floor(nowMs / 1000 / STATS_SLOT_SECONDS);
    const oldest = present - STATS_WINDOW_SECONDS / STATS_SLOT_SECONDS + 1;
    const window = { succeeded: 0, failed: 0, durationMs: 0 };
    let polls = 0;
    for (let i = 0; i < slots.length; i += 2) {
      if (Number(slots[i]) < oldest) continue;
      const [s = 0, f = 0, d = 0] = (slots[i + 1] as string).split(' ').map(Number);
      window.succeeded += s;
      window.failed += f;
      window.durationMs += d;
      if (Number(slots[i]) >= present - 1) polls += s + f;
    }
    // Counting that began a minute ago has a window of one minute.
    const secondsSince = (slot: number) =>
      Math.max(1, (nowMs - Math.max(slot * STATS_SLOT_SECONDS * 1000, Number(since ?? 0))) / 1000);
    const [backpressure = 0, timeouts = 0, succeededMs = 0, limitReached = 0] = causes.map(Number);
    return {
      total: Number(total),
      succeeded: Number(succeeded),
      failed: Number(failed),
      backpressure,
      timeouts,
      succeededMs,
      limitReached,
      window: { ...window, seconds: secondsSince(oldest) },
      recent: { polls, seconds: secondsSince(present - 1) },
    };
  }
}

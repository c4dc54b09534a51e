// Statistics in Redis: totals in polling:stats:<type>, and the rolling window, in ten-second slots, in another hash.
import { GROWTH_MINUTES, type GrowthMinutes, minuteOf } from '../../../domain/results/usage-jump.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import {
  type PollStats,
  STATS_CARRIERS_MAX,
  STATS_SLOT_SECONDS,
  STATS_WINDOW_SECONDS,
  type StatsDelta,
  type StatsReading,
} from '../../ports/live/poll-stats.ts';
import { windowsOf } from '../../ports/live/stats-reading.ts';
import { pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { packCarriers, packCounts, packGrowth, unpackGrowth, unpackSlot } from './packed-slot.ts';

export class RedisPollStats implements PollStats {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async record(
    taskType: TaskType,
    instanceId: string,
    flushNumber: number,
    delta: StatsDelta,
  ): Promise<void> {
    const { keys } = this;
    await this.client.script(
      'statsRecord',
      [
        keys.stats(taskType),
        keys.statsWindow(taskType),
        keys.statsFlushes(taskType),
        keys.usageGrowth(taskType),
      ],
      [
        instanceId,
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
        packCounts(delta),
        packCarriers(delta),
        STATS_CARRIERS_MAX,
        packGrowth(delta),
        GROWTH_MINUTES,
        delta.implausible ?? 0,
      ],
    );
  }

  async usageGrowth(): Promise<GrowthMinutes> {
    const minutes = await this.client.hash(this.keys.usageGrowth('carddata'));
    return new Map([...minutes].map(([minute, counts]) => [Number(minute), unpackGrowth(counts)]));
  }

  async forgetUsageGrowth(sinceMs: number): Promise<void> {
    const key = this.keys.usageGrowth('carddata');
    const forgotten = [...(await this.usageGrowth()).keys()].filter((minute) => minute >= minuteOf(sinceMs));
    if (forgotten.length > 0) await this.client.command('HDEL', key, ...forgotten);
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
    const counted = [...pairsOf(slots)].map(([slot, counts]) => [Number(slot), unpackSlot(counts)] as const);
    const [backpressure = 0, timeouts = 0, succeededMs = 0, limitReached = 0, durationMs = 0] =
      causes.map(Number);
    return {
      total: Number(total),
      succeeded: Number(succeeded),
      failed: Number(failed),
      durationMs,
      backpressure,
      timeouts,
      succeededMs,
      limitReached,
      ...windowsOf(new Map(counted), Number(since ?? 0), Number(now)),
    };
  }
}

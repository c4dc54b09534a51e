// Statistics in Redis: totals in polling:stats:<type>, and the rolling window, in ten-second slots, in another hash.
import { GROWTH_MINUTES, type GrowthMinutes, minuteOf } from '../../../domain/results/usage-growth.ts';
import { snakeCase } from '../../../platform/snake-keys.ts';
import {
  type PollStats,
  STATS_CARRIERS_MAX,
  STATS_SLOT_SECONDS,
  STATS_TOTALS,
  STATS_WINDOW_SECONDS,
  type StatsTotals,
} from '../../ports/live/poll-stats.ts';
import { windowsOf } from '../../ports/live/stats-reading.ts';
import { pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { packCarriers, packCounts, packGrowth, unpackGrowth, unpackSlot } from './packed-slot.ts';

/** The names of the totals in polling:stats:<type>. */
const TOTAL_FIELDS = STATS_TOTALS.map(snakeCase);

export function redisPollStats(client: RedisClient, keys: Keys): PollStats {
  async function usageGrowth(): Promise<GrowthMinutes> {
    const minutes = await client.hash(keys.usageGrowth('carddata'));
    return new Map([...minutes].map(([minute, counts]) => [Number(minute), unpackGrowth(counts)]));
  }

  return {
    async record(taskType, instanceId, flushNumber, delta) {
      await client.script(
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
    },

    usageGrowth,

    async forgetUsageGrowth(sinceMs) {
      const forgotten = [...(await usageGrowth()).keys()].filter((minute) => minute >= minuteOf(sinceMs));
      if (forgotten.length > 0) await client.command('HDEL', keys.usageGrowth('carddata'), ...forgotten);
    },

    async read(taskType) {
      const names = [keys.stats(taskType), keys.statsWindow(taskType)];
      const reply = await client.script('statsRead', names, ['since_ms', 'total', ...TOTAL_FIELDS]);
      const [now, window, values] = reply as [string, string[], Array<string | null>];
      const [since = 0, total = 0, ...totals] = values.map(Number);
      const slots = [...pairsOf(window)].map(([slot, counts]) => [Number(slot), unpackSlot(counts)] as const);
      return {
        total,
        ...(Object.fromEntries(STATS_TOTALS.map((name, i) => [name, totals[i]])) as unknown as StatsTotals),
        ...windowsOf(new Map(slots), since, Number(now)),
      };
    },
  };
}

// Statistics in Redis: totals in polling:stats:<type>, and the rolling window, in ten-second slots, in another hash.
// The history of samples has one hash for each step, whose fields are reused, so that its size is bounded.

import type { Counts } from '../../../domain/numbers.ts';
import type { CarrierPolls, PollsByCarrier } from '../../../domain/results/carrier-polls.ts';
import {
  GROWTH_HOURS,
  GROWTH_MINUTES,
  type GrowthCounts,
  type GrowthHistory,
  hourOf,
  minuteOf,
} from '../../../domain/results/usage-growth.ts';
import {
  CARRIER_COUNTS,
  CARRIER_SLOT_SECONDS,
  CARRIER_SLOTS_KEPT,
  type CarrierCounts,
  type CountsByCarrier,
  SLOT_CARRIERS_MAX,
} from '../../../domain/stats/carrier-slots.ts';
import { type HistorySample, SAMPLE_FIELDS, slotOf, type TaskSample } from '../../../domain/stats/history.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { snakeCase } from '../../../platform/snake-keys.ts';
import {
  type HealthLog,
  type HistoryLog,
  type PollStats,
  STATS_CARRIERS_MAX,
  STATS_SLOT_SECONDS,
  STATS_TOTALS,
  STATS_WINDOW_SECONDS,
  type StatsSlot,
  type StatsTotals,
  windowsOf,
} from '../../ports/live/poll-stats.ts';
import { pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

/** The names of the totals in polling:stats:<type>. */
const TOTAL_FIELDS = STATS_TOTALS.map(snakeCase);

export function redisPollStats(client: RedisClient, keys: Keys): PollStats {
  const growthKey = keys.usageGrowth('carddata');
  const peaksKey = keys.usagePeaks('carddata');

  async function usageGrowth(): Promise<GrowthHistory> {
    const [minutes, peaks] = await Promise.all([client.hash(growthKey), client.hash(peaksKey)]);
    return {
      minutes: new Map([...minutes].map(([minute, counts]) => [Number(minute), unpackGrowth(counts)])),
      hours: new Map([...peaks.values()].map(unpackPeak)),
    };
  }

  return {
    async record(taskType, instanceId, flushNumber, delta) {
      await client.script('statsRecord', keys.ofScript('statsRecord', taskType), [
        instanceId,
        flushNumber,
        delta.succeeded,
        delta.failed,
        delta.durationMs,
        STATS_WINDOW_SECONDS,
        STATS_SLOT_SECONDS,
        delta.backpressure,
        delta.timeouts,
        delta.succeededMs,
        delta.limitReached,
        packCounts({ ...delta.durations, ...delta.reasons }),
        packCarriers(delta.carriers),
        STATS_CARRIERS_MAX,
        packCounts(delta.usageGrowth),
        GROWTH_MINUTES,
        delta.implausible,
        delta.counters,
        delta.fallen,
        packSlot(delta.byCarrier),
        CARRIER_SLOT_SECONDS,
        CARRIER_SLOTS_KEPT,
        SLOT_CARRIERS_MAX,
      ]);
    },

    async carrierSlots(taskType, slots) {
      if (slots.length === 0) return new Map();
      const texts = await client.command('HMGET', keys.carrierSlots(taskType), ...slots);
      return new Map(
        (texts as Array<string | null>).flatMap((text, i) =>
          text === null ? [] : [[slots[i] as number, unpackCountsByCarrier(text)]],
        ),
      );
    },

    usageGrowth,

    async noteUsagePeak(hour, mbPerHour) {
      await client.command('HSET', peaksKey, hour % GROWTH_HOURS, `${hour} ${mbPerHour}`);
      await client.command('PEXPIRE', peaksKey, 3_600_000 * GROWTH_HOURS);
    },

    async forgetUsageGrowth(sinceMs) {
      const { minutes, hours } = await usageGrowth();
      const forgotten = [...minutes.keys()].filter((minute) => minute >= minuteOf(sinceMs));
      if (forgotten.length > 0) await client.command('HDEL', growthKey, ...forgotten);
      const slots = [...hours.keys()]
        .filter((hour) => hour >= hourOf(sinceMs))
        .map((hour) => hour % GROWTH_HOURS);
      if (slots.length > 0) await client.command('HDEL', peaksKey, ...slots);
    },

    async read(taskType) {
      const names = keys.ofScript('statsRead', taskType);
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

export function packCounts(counts: Counts<string>): string {
  return Object.entries(counts)
    .map(([key, count]) => `${key}=${count}`)
    .join(',');
}

/** One minute of the growth of usage: counts by rate. */
export function unpackGrowth(text: string): GrowthCounts {
  return Object.fromEntries(entriesOf(text).map((entry) => entry.split('=').map(Number)));
}

/** `<hour> <MB per hour>`, in a field that the hour GROWTH_HOURS later takes. */
function unpackPeak(text: string): [hour: number, mbPerHour: number] {
  const [hour = 0, mbPerHour = 0] = text.split(' ').map(Number);
  return [hour, mbPerHour];
}

export function packCarriers(carriers: PollsByCarrier): string {
  return [...carriers]
    .map(([carrierId, { polls, failed, succeededMs = 0 }]) =>
      [carrierId, polls, failed, succeededMs].join(':'),
    )
    .join(',');
}

/**
 * One slot as text: "<succeeded> <failed> <sum of durations> <counts> <carriers> <sum of the durations of succeeded polls>
 * <implausible readings> <readings of cards that have used something> <those that fell>", the counts as `<duration bucket or failure reason>=<how many>`, the carriers as
 * `<id>:<polls>:<failed>:<sum of the durations of succeeded polls>`, with commas between. Written by stats-record.lua. An older version ignores what it does not know,
 * and leaves it out when it writes.
 */
export function unpackSlot(text: string): StatsSlot {
  const [
    succeeded = 0,
    failed = 0,
    durationMs = 0,
    counts = '',
    carriers = '',
    succeededMs,
    implausible = 0,
    counters = 0,
    fallen = 0,
  ] = text.split(' ');
  const share = Number(succeeded) / Math.max(1, Number(succeeded) + Number(failed));
  const durations: Record<number, number> = {};
  const reasons: Record<string, number> = {};
  for (const entry of entriesOf(counts)) {
    const [key = '', count] = entry.split('=');
    const bucket = Number(key);
    if (Number.isNaN(bucket)) reasons[key] = Number(count);
    else durations[bucket] = Number(count);
  }
  return {
    succeeded: Number(succeeded),
    failed: Number(failed),
    durationMs: Number(durationMs),
    succeededMs: succeededMs === undefined ? share * Number(durationMs) : Number(succeededMs),
    implausible: Number(implausible),
    counters: Number(counters),
    fallen: Number(fallen),
    durations,
    reasons,
    carriers: new Map(entriesOf(carriers).map(unpackCarrier)),
  };
}

function unpackCarrier(entry: string): [carrierId: number, CarrierPolls] {
  const [carrierId = 0, polls = 0, failed = 0, succeededMs = 0] = entry.split(':').map(Number);
  return [carrierId, succeededMs === 0 ? { polls, failed } : { polls, failed, succeededMs }];
}

const OTHER_CARRIERS = '*';

function packSlot(byCarrier: CountsByCarrier): string {
  return [...byCarrier]
    .map(([id, counts]) => [id ?? OTHER_CARRIERS, ...CARRIER_COUNTS.map((name) => counts[name])].join(':'))
    .join(',');
}

function unpackCountsByCarrier(text: string): CountsByCarrier {
  return new Map(
    entriesOf(text).map((entry) => {
      const [id = OTHER_CARRIERS, ...numbers] = entry.split(':');
      const counts = CARRIER_COUNTS.map((name, i) => [name, Number(numbers[i] ?? 0)]);
      const carrierId = id === OTHER_CARRIERS ? null : Number(id);
      return [carrierId, Object.fromEntries(counts) as unknown as CarrierCounts] as const;
    }),
  );
}

function entriesOf(packed: string): string[] {
  return packed === '' ? [] : packed.split(',');
}

/** A task type's numbers in the order of SAMPLE_FIELDS. */
type PackedSample = { readonly at_ms: number } & Readonly<Record<TaskType, ReadonlyArray<number | null>>>;

export function redisHistoryLog(client: RedisClient, keys: Keys): HistoryLog {
  return {
    async save(step, sample) {
      await client.command('HSET', keys.history(step), slotOf(step, sample.atMs), packSample(sample));
    },

    async read(step, sinceMs) {
      const texts = (await client.command('HVALS', keys.history(step))) as string[];
      const samples = texts.map(unpackSample).filter(({ atMs }) => atMs >= sinceMs);
      return samples.sort((a, b) => a.atMs - b.atMs);
    },
  };
}

function packSample({ atMs, tasks }: HistorySample): string {
  const numbers = TASK_TYPES.map((taskType) => [
    taskType,
    SAMPLE_FIELDS.map((field) => tasks[taskType][field]),
  ]);
  return JSON.stringify({ at_ms: atMs, ...Object.fromEntries(numbers) });
}

function unpackSample(text: string): HistorySample {
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

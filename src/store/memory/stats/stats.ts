// Statistics in this process's memory, in ten-second slots, and the history of samples and of problems.
import { sumOfCounts } from '../../../domain/numbers.ts';
import type { GrowthCounts } from '../../../domain/results/usage-growth.ts';
import { GROWTH_HOURS, GROWTH_MINUTES, hourOf, minuteOf } from '../../../domain/results/usage-growth.ts';
import {
  addCounts,
  CARRIER_SLOTS_KEPT,
  type CarrierCounts,
  carrierSlotAt,
} from '../../../domain/stats/carrier-slots.ts';
import type { HistorySample, HistoryStep } from '../../../domain/stats/history.ts';
import { slotOf } from '../../../domain/stats/history.ts';
import { perTaskType } from '../../../domain/task-type.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type HealthLog,
  type HistoryLog,
  oldestSlot,
  type PollStats,
  STATS_CARRIERS_MAX,
  STATS_TOTALS,
  type StatsSlot,
  type StatsTotals,
  slotAt,
  sumOfSlots,
  windowsOf,
} from '../../ports/live/poll-stats.ts';

interface TypeState {
  readonly totals: Record<keyof StatsTotals, number>;
  sinceMs: number | null;
  readonly flushes: Map<string, number>;
  readonly slots: Map<number, StatsSlot>;
  readonly byCarrier: Map<number, Map<number | null, CarrierCounts>>;
}

const NOTHING = Object.fromEntries(STATS_TOTALS.map((name) => [name, 0])) as unknown as StatsTotals;

/** `forgetInstance` forgets the flush numbers of an instance that has left. */
export function embeddedPollStats(clock: Clock): PollStats & { forgetInstance(instanceId: string): void } {
  const types = perTaskType(
    (): TypeState => ({
      totals: { ...NOTHING },
      sinceMs: null,
      flushes: new Map(),
      slots: new Map(),
      byCarrier: new Map(),
    }),
  );
  const growth = new Map<number, GrowthCounts>();
  const peaks = new Map<number, number>();

  function addGrowth(now: number, counts: GrowthCounts): void {
    if (Object.keys(counts).length === 0) return;
    growth.set(now, sumOfCounts([growth.get(now) ?? {}, counts]));
    for (const minute of growth.keys())
      if (minute <= now - GROWTH_MINUTES || minute > now) growth.delete(minute);
  }

  return {
    forgetInstance(instanceId) {
      for (const type of Object.values(types)) type.flushes.delete(instanceId);
    },

    async record(taskType, instanceId, flushNumber, delta) {
      const type = types[taskType];
      const last = type.flushes.get(instanceId) ?? 0;
      // Number 1 after higher numbers means that a restarted instance uses the same id.
      if (flushNumber === last || (flushNumber < last && flushNumber > 1)) return;
      type.flushes.set(instanceId, flushNumber);
      const now = clock.now();
      type.sinceMs ??= now;
      for (const name of STATS_TOTALS) type.totals[name] += delta[name];
      const slot = slotAt(now);
      const counted = type.slots.get(slot);
      type.slots.set(
        slot,
        sumOfSlots(counted === undefined ? [delta] : [counted, delta], STATS_CARRIERS_MAX),
      );
      for (const index of type.slots.keys())
        if (index < oldestSlot(now) || index > slot) type.slots.delete(index);
      addGrowth(minuteOf(now), delta.usageGrowth);
      if (delta.byCarrier.size === 0) return;
      const ten = carrierSlotAt(now);
      const sum = type.byCarrier.get(ten) ?? new Map();
      addCounts(sum, delta.byCarrier);
      type.byCarrier.set(ten, sum);
      for (const index of type.byCarrier.keys())
        if (index <= ten - CARRIER_SLOTS_KEPT || index > ten) type.byCarrier.delete(index);
    },

    carrierSlots: async (taskType, slots) =>
      new Map([...types[taskType].byCarrier].filter(([slot]) => slots.includes(slot))),

    usageGrowth: async () => ({ minutes: new Map(growth), hours: new Map(peaks) }),

    async noteUsagePeak(hour, mbPerHour) {
      // One hour takes the place of the one that is so many hours older, as in Redis.
      for (const noted of peaks.keys()) if ((noted - hour) % GROWTH_HOURS === 0) peaks.delete(noted);
      peaks.set(hour, mbPerHour);
    },

    async forgetUsageGrowth(sinceMs) {
      for (const minute of growth.keys()) if (minute >= minuteOf(sinceMs)) growth.delete(minute);
      for (const hour of peaks.keys()) if (hour >= hourOf(sinceMs)) peaks.delete(hour);
    },

    async read(taskType) {
      const { totals, slots, sinceMs } = types[taskType];
      const windows = windowsOf(slots, sinceMs ?? 0, clock.now());
      return { total: totals.succeeded + totals.failed, ...totals, ...windows };
    },
  };
}

export function embeddedHistoryLog(): HistoryLog {
  const slots: Record<HistoryStep, Map<number, HistorySample>> = { second: new Map(), minute: new Map() };

  return {
    async save(step, sample) {
      slots[step].set(slotOf(step, sample.atMs), sample);
    },

    async read(step, sinceMs) {
      const samples = [...slots[step].values()].filter(({ atMs }) => atMs >= sinceMs);
      return samples.sort((a, b) => a.atMs - b.atMs);
    },
  };
}

export function embeddedHealthLog(clock: Clock): HealthLog {
  const notes = new Map<string, { readonly firstMs: number; readonly endsMs: number }>();

  function forgetEnded(): void {
    for (const [name, { endsMs }] of notes) if (endsMs < clock.now()) notes.delete(name);
  }

  return {
    async note(names, holdsMs) {
      forgetEnded();
      const nowMs = clock.now();
      for (const name of names) {
        const firstMs = notes.get(name)?.firstMs ?? nowMs;
        notes.set(name, { firstMs, endsMs: nowMs + holdsMs });
      }
    },

    async since() {
      forgetEnded();
      return new Map([...notes].map(([name, { firstMs }]) => [name, firstMs]));
    },
  };
}

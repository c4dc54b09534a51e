// Statistics in this process's memory, in ten-second slots.
import type { GrowthCounts } from '../../../domain/results/usage-growth.ts';
import { GROWTH_MINUTES, type GrowthMinutes, minuteOf } from '../../../domain/results/usage-jump.ts';
import { sumOfCounts } from '../../../domain/stats/counts.ts';
import { perTaskType, type TaskType } from '../../../domain/task-type.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type PollStats,
  STATS_CARRIERS_MAX,
  type StatsDelta,
  type StatsReading,
} from '../../ports/live/poll-stats.ts';
import { oldestSlot, type StatsSlot, slotAt, sumOfSlots, windowsOf } from '../../ports/live/stats-reading.ts';

interface TypeState {
  succeeded: number;
  failed: number;
  durationMs: number;
  backpressure: number;
  timeouts: number;
  succeededMs: number;
  limitReached: number;
  sinceMs: number | null;
  readonly flushes: Map<string, number>;
  readonly slots: Map<number, StatsSlot>;
}

export class EmbeddedPollStats implements PollStats {
  readonly #types = perTaskType(
    (): TypeState => ({
      succeeded: 0,
      failed: 0,
      durationMs: 0,
      backpressure: 0,
      timeouts: 0,
      succeededMs: 0,
      limitReached: 0,
      sinceMs: null,
      flushes: new Map(),
      slots: new Map(),
    }),
  );

  readonly #growth = new Map<number, GrowthCounts>();

  constructor(private readonly clock: Clock) {}

  /** Forgets the flush numbers of an instance that has left. */
  forgetInstance(instanceId: string): void {
    for (const type of Object.values(this.#types)) type.flushes.delete(instanceId);
  }

  async record(
    taskType: TaskType,
    instanceId: string,
    flushNumber: number,
    delta: StatsDelta,
  ): Promise<void> {
    const type = this.#types[taskType];
    const last = type.flushes.get(instanceId) ?? 0;
    // Number 1 after higher numbers means that a restarted instance uses the same id.
    if (flushNumber === last || (flushNumber < last && flushNumber > 1)) return;
    type.flushes.set(instanceId, flushNumber);
    const now = this.clock.now();
    type.sinceMs ??= now;
    type.succeeded += delta.succeeded;
    type.failed += delta.failed;
    type.durationMs += delta.durationMs;
    type.backpressure += delta.backpressure ?? 0;
    type.timeouts += delta.timeouts ?? 0;
    type.succeededMs += delta.succeededMs ?? 0;
    type.limitReached += delta.limitReached ?? 0;
    const slot = slotAt(now);
    const { succeeded, failed, durationMs, succeededMs = 0, implausible = 0 } = delta;
    const { durations = {}, reasons = {}, carriers = new Map() } = delta;
    const added = { succeeded, failed, durationMs, succeededMs, implausible, durations, reasons, carriers };
    const counted = type.slots.get(slot);
    type.slots.set(slot, sumOfSlots(counted === undefined ? [added] : [counted, added], STATS_CARRIERS_MAX));
    for (const index of type.slots.keys())
      if (index < oldestSlot(now) || index > slot) type.slots.delete(index);
    if (delta.usageGrowth !== undefined) this.#addGrowth(minuteOf(now), delta.usageGrowth);
  }

  async usageGrowth(): Promise<GrowthMinutes> {
    return new Map(this.#growth);
  }

  async forgetUsageGrowth(sinceMs: number): Promise<void> {
    for (const minute of this.#growth.keys()) if (minute >= minuteOf(sinceMs)) this.#growth.delete(minute);
  }

  #addGrowth(now: number, counts: GrowthCounts): void {
    if (Object.keys(counts).length === 0) return;
    this.#growth.set(now, sumOfCounts([this.#growth.get(now) ?? {}, counts]));
    for (const minute of this.#growth.keys())
      if (minute <= now - GROWTH_MINUTES || minute > now) this.#growth.delete(minute);
  }

  async read(taskType: TaskType): Promise<StatsReading> {
    const type = this.#types[taskType];
    return {
      total: type.succeeded + type.failed,
      succeeded: type.succeeded,
      failed: type.failed,
      durationMs: type.durationMs,
      backpressure: type.backpressure,
      timeouts: type.timeouts,
      succeededMs: type.succeededMs,
      limitReached: type.limitReached,
      ...windowsOf(type.slots, type.sinceMs ?? 0, this.clock.now()),
    };
  }
}

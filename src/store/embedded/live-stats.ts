// Statistics in this process's memory, in ten-second slots.
import type { PollWindow } from '../../domain/task-metrics.ts';
import { perTaskType, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type PollStats,
  STATS_SLOT_SECONDS,
  STATS_WINDOW_SECONDS,
  type StatsDelta,
  type StatsReading,
} from '../live-store.ts';

const SLOT_MS = STATS_SLOT_SECONDS * 1000;

interface TypeState {
  succeeded: number;
  failed: number;
  backpressure: number;
  timeouts: number;
  succeededMs: number;
  limitReached: number;
  sinceMs: number | null;
  readonly flushes: Map<string, number>;
  readonly slots: Map<number, PollWindow>;
}

export class EmbeddedPollStats implements PollStats {
  readonly #types = perTaskType(
    (): TypeState => ({
      succeeded: 0,
      failed: 0,
      backpressure: 0,
      timeouts: 0,
      succeededMs: 0,
      limitReached: 0,
      sinceMs: null,
      flushes: new Map(),
      slots: new Map(),
    }),
  );

  constructor(private readonly clock: Clock) {}

  /** Forgets the flushes of a worker that is gone. */
  forgetWorker(workerId: string): void {
    for (const type of Object.values(this.#types)) type.flushes.delete(workerId);
  }

  async record(taskType: TaskType, workerId: string, flushNumber: number, delta: StatsDelta): Promise<void> {
    const type = this.#types[taskType];
    const last = type.flushes.get(workerId) ?? 0;
    // Number 1 after higher ones: a new life of a worker that reuses its id.
    if (flushNumber === last || (flushNumber < last && flushNumber > 1)) return;
    type.flushes.set(workerId, flushNumber);
    const now = this.clock.now();
    type.sinceMs ??= now;
    type.succeeded += delta.succeeded;
    type.failed += delta.failed;
    type.backpressure += delta.backpressure ?? 0;
    type.timeouts += delta.timeouts ?? 0;
    type.succeededMs += delta.succeededMs ?? 0;
    type.limitReached += delta.limitReached ?? 0;
    const slot = Math.floor(now / SLOT_MS);
    const counted = type.slots.get(slot);
    type.slots.set(slot, counted === undefined ? delta : sum([counted, delta]));
    for (const index of type.slots.keys()) if (index < oldestSlot(now)) type.slots.delete(index);
  }

  async read(taskType: TaskType): Promise<StatsReading> {
    const type = this.#types[taskType];
    const now = this.clock.now();
    const since = (slot: number) =>
      sum([...type.slots].filter(([index]) => index >= slot).map(([, delta]) => delta));
    // Counting that began a minute ago has a window of one minute.
    const secondsSince = (slot: number) =>
      Math.max(1, (now - Math.max(slot * SLOT_MS, type.sinceMs ?? 0)) / 1000);
    const before = Math.floor(now / SLOT_MS) - 1;
    const { succeeded, failed } = since(before);
    return {
      total: type.succeeded + type.failed,
      succeeded: type.succeeded,
      failed: type.failed,
      backpressure: type.backpressure,
      timeouts: type.timeouts,
      succeededMs: type.succeededMs,
      limitReached: type.limitReached,
      window: { ...since(oldestSlot(now)), seconds: secondsSince(oldestSlot(now)) },
      recent: { polls: succeeded + failed, seconds: secondsSince(before) },
    };
  }
}

function oldestSlot(nowMs: number): number {
  return Math.floor(nowMs / SLOT_MS) - (STATS_WINDOW_SECONDS * 1000) / SLOT_MS + 1;
}

function sum(deltas: readonly PollWindow[]): PollWindow {
  return {
    succeeded: deltas.reduce((total, delta) => total + delta.succeeded, 0),
    failed: deltas.reduce((total, delta) => total + delta.failed, 0),
    durationMs: deltas.reduce((total, delta) => total + delta.durationMs, 0),
  };
}

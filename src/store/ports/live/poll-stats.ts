// Port section of live-store.ts: what was polled, and how it went.

import type { PollsByCarrier } from '../../../domain/results/carrier-polls.ts';
import type { Counts } from '../../../domain/stats/counts.ts';
import type { Durations } from '../../../domain/stats/durations.ts';
import type { PollWindow } from '../../../domain/stats/task-metrics.ts';
import type { TaskType } from '../../../domain/task-type.ts';

export interface StatsDelta {
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these, milliseconds. */
  readonly durationMs: number;
  /** How many of the failed were answered 429 or 503. Absent, here and below: 0. */
  readonly backpressure?: number;
  /** How many of the failed timed out. */
  readonly timeouts?: number;
  /** Sum of the durations of the succeeded alone, milliseconds. */
  readonly succeededMs?: number;
  /** Claims that found the limit used up. */
  readonly limitReached?: number;
  /** How long they took, one by one. Absent, here and below: none. */
  readonly durations?: Durations;
  /** Why the failed failed: kind of failure ([a-z_]+) -> how many. */
  readonly reasons?: FailureReasons;
  /** The polls by carrier, of up to STATS_CARRIERS_MAX carriers. */
  readonly carriers?: PollsByCarrier;
}

export type FailureReasons = Counts<string>;

export interface StatsReading {
  /** Since start of counting. */
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Sum of the durations of all of these, milliseconds. */
  readonly durationMs: number;
  readonly backpressure: number;
  readonly timeouts: number;
  readonly succeededMs: number;
  readonly limitReached: number;
  /** Over the last five minutes. */
  readonly window: PollWindow & {
    readonly seconds: number;
    readonly durations: Durations;
    readonly reasons: FailureReasons;
    /** Without the polls of carriers beyond STATS_CARRIERS_MAX a slot. */
    readonly carriers: PollsByCarrier;
  };
  /** Over the last ten to twenty seconds: what happens now. */
  readonly recent: { readonly polls: number; readonly seconds: number; readonly durations: Durations };
}

/** Length of the rolling window of success_rate and avg_duration_ms (contract, "Fields"). */
export const STATS_WINDOW_SECONDS = 300;

/** Polls are counted by slots of this length; `recent` is the present slot and the one before. */
export const STATS_SLOT_SECONDS = 10;

/** Carriers that a slot counts by name, the first ones that come, so that no fleet makes it long. */
export const STATS_CARRIERS_MAX = 50;

export interface PollStats {
  /** Adds the counts of an instance. `flushNumber` grows by one a flush: a flush that comes twice counts once. */
  record(taskType: TaskType, instanceId: string, flushNumber: number, delta: StatsDelta): Promise<void>;
  read(taskType: TaskType): Promise<StatsReading>;
}

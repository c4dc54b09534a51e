// What the numbers of the task types were, sample by sample. Used by routes/polling-stats.ts and, through it, by the
// dashboard's charts.
import type { TaskType } from '../domain/task-type.ts';

/** One task type over one step. */
export interface TaskSample {
  readonly taskType: TaskType;
  /** Polls that ended, and those of them that failed, a second. null: the sampler had just begun. */
  readonly ratePerSecond: number | null;
  readonly failedPerSecond: number | null;
  /** Percent; null without a poll. */
  readonly successRate: number | null;
  /** Milliseconds; null without a poll. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Due and running. */
  readonly queueLength: number;
  readonly inFlight: number;
  readonly backoff: number;
  readonly manualLength: number;
  readonly scheduleLagSeconds: number;
  readonly effectiveConcurrency: number;
  readonly maxConcurrency: number;
}

export interface HistorySample {
  /** End of the step. */
  readonly at: Date;
  readonly tasks: readonly TaskSample[];
}

/** Oldest first. Where nothing was sampled (no leader) there is no sample: a gap, not zeros. */
export interface History {
  readonly stepSeconds: number;
  readonly items: readonly HistorySample[];
}

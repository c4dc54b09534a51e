// The history of the task types' metrics: samples for charts. Taken by the leader, kept in the live store. Pure.

import { rounded } from '../numbers.ts';
import { perTaskType, type TaskType } from '../task-type.ts';

/** Polls per second that ended, and that failed; null: counting had just begun. */
const RATES = ['ratePerSecond', 'failedPerSecond'] as const;
/** Milliseconds, over the last ten to twenty seconds; null without a poll. */
const PERCENTILES = ['p50Ms', 'p95Ms'] as const;
/** Cards that are due, polls that are running, cards that wait for a retry, and cards of triggers. */
const QUEUES = ['queueLength', 'inFlight', 'backoff', 'manualLength'] as const;
const LIMITS = ['effectiveConcurrency', 'maxConcurrency'] as const;

/** All metrics, in the order of storage. */
export const SAMPLE_FIELDS = [...RATES, ...PERCENTILES, ...QUEUES, ...LIMITS] as const;

/** One task type over one step. */
export type TaskSample = Readonly<
  Record<(typeof RATES | typeof PERCENTILES)[number], number | null> &
    Record<(typeof QUEUES | typeof LIMITS)[number], number>
>;

export interface HistorySample {
  /** End of the step. */
  readonly atMs: number;
  readonly tasks: Readonly<Record<TaskType, TaskSample>>;
}

/** Number of samples kept per step length. */
export const HISTORY_STEPS = {
  second: { seconds: 1, samples: 900 },
  minute: { seconds: 60, samples: 1_440 },
} as const;

export type HistoryStep = keyof typeof HISTORY_STEPS;

/** The slot of a sample in the ring buffer of its step length. */
export function slotOf(step: HistoryStep, atMs: number): number {
  const { seconds, samples } = HISTORY_STEPS[step];
  return Math.floor(atMs / 1000 / seconds) % samples;
}

/** The step length to use for the last `minutes`. */
export function stepFor(minutes: number): HistoryStep {
  const { seconds, samples } = HISTORY_STEPS.second;
  return minutes * 60 <= seconds * samples ? 'second' : 'minute';
}

/** Combines several samples into one: the mean of every metric over the samples that have it, also of percentiles. */
export function meanOf(atMs: number, samples: readonly HistorySample[]): HistorySample {
  const meanTask = (taskType: TaskType) =>
    SAMPLE_FIELDS.map((field) => [field, mean(samples.map(({ tasks }) => tasks[taskType][field]))]);
  return { atMs, tasks: perTaskType((taskType) => Object.fromEntries(meanTask(taskType)) as TaskSample) };
}

function mean(values: ReadonlyArray<number | null>): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  return rounded(known.reduce((sum, value) => sum + value, 0) / known.length);
}

// What the numbers of the task types were, sample by sample. Used by the admin API and, through it, by the dashboard's
// charts.

import { rounded } from '../../domain/rounded.ts';
import { HISTORY_STEPS, type HistorySample, stepFor, type TaskSample } from '../../domain/stats/history.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';

interface TaskSampleReport extends TaskSample {
  readonly taskType: TaskType;
  /** Percent; null without a poll. */
  readonly successRate: number | null;
}

interface HistorySampleReport {
  /** End of the step. */
  readonly at: Date;
  readonly tasks: readonly TaskSampleReport[];
}

/** Oldest first. Where nothing was sampled (no leader) there is no sample: a gap, not zeros. */
export interface History {
  readonly stepSeconds: number;
  readonly items: readonly HistorySampleReport[];
}

export class HistoryOperations {
  constructor(
    private readonly live: LiveStore,
    private readonly clock: Clock,
  ) {}

  /** Of the last `minutes`: in steps of a second as far back as those are kept, else of a minute. */
  async read(minutes: number): Promise<History> {
    const step = stepFor(minutes);
    const samples = await this.live.history.read(step, this.clock.now() - minutes * 60_000);
    return { stepSeconds: HISTORY_STEPS[step].seconds, items: samples.map(reportOf) };
  }
}

function reportOf({ atMs, tasks }: HistorySample): HistorySampleReport {
  return {
    at: new Date(atMs),
    tasks: TASK_TYPES.map((taskType) => ({
      taskType,
      ...tasks[taskType],
      successRate: successRateOf(tasks[taskType]),
    })),
  };
}

function successRateOf({ ratePerSecond, failedPerSecond }: TaskSample): number | null {
  if (ratePerSecond === null || failedPerSecond === null || ratePerSecond === 0) return null;
  return rounded((100 * (ratePerSecond - failedPerSecond)) / ratePerSecond);
}

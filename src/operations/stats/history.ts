// What the numbers of the task types were, sample by sample. Used by the admin API and, through it, by the dashboard's
// charts.

import { rounded } from '../../domain/numbers.ts';
import { HISTORY_STEPS, type HistorySample, stepFor, type TaskSample } from '../../domain/stats/history.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { History } from './stats-report.ts';

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

function reportOf({ atMs, tasks }: HistorySample): History['items'][number] {
  return {
    at: new Date(atMs),
    tasks: TASK_TYPES.map((type) => ({
      taskType: type,
      ...tasks[type],
      successRate: successRateOf(tasks[type]),
    })),
  };
}

function successRateOf({ ratePerSecond, failedPerSecond }: TaskSample): number | null {
  if (ratePerSecond === null || failedPerSecond === null || ratePerSecond === 0) return null;
  return rounded((100 * (ratePerSecond - failedPerSecond)) / ratePerSecond);
}

// What the numbers of the task types were, sample by sample. Used by the admin API and, through it, by the dashboard's
// charts.
import { z } from 'zod';
import { rounded } from '../../domain/rounded.ts';
import { HISTORY_STEPS, type HistorySample, stepFor, type TaskSample } from '../../domain/stats/history.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import { REPORT_NAMES, type ReportOf, taskType } from '../report.ts';

const taskSample = z.object({
  taskType,
  ratePerSecond: z.number().nullable().describe('Polls that ended, a second; null: counting had just begun'),
  failedPerSecond: z
    .number()
    .nullable()
    .describe('Polls that failed, a second; null: counting had just begun'),
  successRate: z.number().nullable().describe('Percent; null without a poll'),
  p50Ms: z.number().nullable().describe('Over the ten to twenty seconds before; null without a poll'),
  p95Ms: z.number().nullable(),
  queueLength: z.number().describe('Due and running'),
  inFlight: z.number(),
  backoff: z.number(),
  manualLength: z.number(),
  effectiveConcurrency: z.number(),
  maxConcurrency: z.number(),
});

/** Oldest first. Where nothing was sampled (no leader) there is no sample: a gap, not zeros. */
export const history = z
  .object({
    stepSeconds: z.int(),
    items: z.array(z.object({ at: z.date().describe('End of the step'), tasks: z.array(taskSample) })),
  })
  .register(REPORT_NAMES, { id: 'History' });
export type History = ReportOf<typeof history>;

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

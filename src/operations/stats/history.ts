// What the live store noted over time: the numbers of the task types, sample by sample; and why polls failed, for which carriers
// and cards. Used by the admin API and, through it, by the dashboard's charts.

import { dated } from '../../domain/date-of.ts';
import { percentDown } from '../../domain/numbers.ts';
import type { FailingCarrier } from '../../domain/results/carrier-polls.ts';
import { failingCarriersOf } from '../../domain/results/carrier-polls.ts';
import { HISTORY_STEPS, type HistorySample, stepFor, type TaskSample } from '../../domain/stats/history.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { NotedFailure } from '../../store/ports/live/poll-stats.ts';
import type { OperationMeans } from '../means.ts';
import type { FailingCard, History, TaskFailures } from './stats-report.ts';

const SECOND_MS = 1_000;
const LATEST_CARDS = 20;
const WORST_CARRIERS = 10;

export class HistoryOperations {
  constructor(private readonly deps: Pick<OperationMeans, 'live'>) {}

  /** Of the last `minutes`: in steps of a second as far back as those are kept, else of a minute. */
  async read(minutes: number): Promise<History> {
    const { live } = this.deps;
    const step = stepFor(minutes);
    const nowMs = await live.now();
    // A sample of the future is from before the clock was set back.
    const samples = (await live.history.read(step, nowMs - minutes * 60_000)).filter(
      ({ atMs }) => atMs <= nowMs + SECOND_MS,
    );
    return { stepSeconds: HISTORY_STEPS[step].seconds, items: samples.map(reportOf) };
  }

  /** Why polls fail, for which carriers, and for which cards. */
  failures(): Promise<TaskFailures[]> {
    return Promise.all(TASK_TYPES.map((one) => this.#failuresOf(one)));
  }

  async #failuresOf(type: TaskType): Promise<TaskFailures> {
    const { stats, failures } = this.deps.live;
    const [{ window }, { total, latest }] = await Promise.all([
      stats.read(type),
      failures.failing(type, LATEST_CARDS),
    ]);
    const reasons = Object.entries(window.reasons).map(([reason, count]) => ({ reason, count }));
    return {
      taskType: type,
      reasons: reasons.sort((a, b) => b.count - a.count),
      carriers: failingCarriersOf(window.carriers).slice(0, WORST_CARRIERS).map(roundedCarrier),
      failingCards: total,
      cards: latest.map(failingCardOf),
    };
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
  return percentDown((100 * (ratePerSecond - failedPerSecond)) / ratePerSecond);
}

function roundedCarrier(carrier: FailingCarrier): FailingCarrier {
  return { ...carrier, failedPercent: percentDown(carrier.failedPercent) };
}

/** Also what is known of a card that has failed before. */
export function failingCardOf({ failuresInARow, ...failure }: NotedFailure): FailingCard {
  return { ...dated(failure), attempts: failuresInARow };
}

// Why polls fail, for which carriers, and for which cards. Used by the admin API.

import { rounded } from '../../domain/numbers.ts';
import { type FailingCarrier, failingCarriersOf } from '../../domain/results/carrier-polls.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { NotedFailure } from '../../store/ports/live/failure-log.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import { dated } from '../date-of.ts';
import type { FailingCard, TaskFailures } from './stats-report.ts';

const LATEST_CARDS = 20;
const WORST_CARRIERS = 10;

export class FailureOperations {
  constructor(private readonly live: LiveStore) {}

  list(): Promise<TaskFailures[]> {
    return Promise.all(TASK_TYPES.map((one) => this.#ofType(one)));
  }

  async #ofType(type: TaskType): Promise<TaskFailures> {
    const { stats, failures } = this.live;
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

function roundedCarrier(carrier: FailingCarrier): FailingCarrier {
  return { ...carrier, failedPercent: rounded(carrier.failedPercent) };
}

function failingCardOf({ failuresInARow, ...failure }: NotedFailure): FailingCard {
  return { ...dated(failure), attempts: failuresInARow };
}

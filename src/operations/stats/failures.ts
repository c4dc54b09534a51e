// Why polls fail, of which carriers, and for which cards. Used by the admin API.
import { type FailingCarrier, failingCarriersOf } from '../../domain/results/failing-carriers.ts';
import { rounded } from '../../domain/rounded.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { NotedFailure } from '../../store/ports/live/failure-log.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';

/** The last failure of a card that has not been polled successfully since. */
interface FailingCard {
  readonly cardId: number;
  readonly at: Date;
  /** Kind of failure: `timeout`, `connect`, `backpressure` ... as in the log's `error`. */
  readonly reason: string;
  /** What was said, shortened. */
  readonly message: string;
  readonly durationMs: number;
  /** Failures in a row. */
  readonly attempts: number;
}

export interface TaskFailures {
  readonly taskType: TaskType;
  /** Over the last five minutes, the most frequent first. */
  readonly reasons: ReadonlyArray<{ readonly reason: string; readonly count: number }>;
  /** Over the last five minutes, the highest failing share first. */
  readonly carriers: readonly FailingCarrier[];
  /** Cards whose last scheduled poll failed. */
  readonly failingCards: number;
  /** Those of them that failed last, the latest first. */
  readonly cards: readonly FailingCard[];
}

const LATEST_CARDS = 20;
const WORST_CARRIERS = 10;

export class FailureOperations {
  constructor(private readonly live: LiveStore) {}

  list(): Promise<TaskFailures[]> {
    return Promise.all(TASK_TYPES.map((taskType) => this.#ofType(taskType)));
  }

  async #ofType(taskType: TaskType): Promise<TaskFailures> {
    const { stats, failures } = this.live;
    const [{ window }, { total, latest }] = await Promise.all([
      stats.read(taskType),
      failures.failing(taskType, LATEST_CARDS),
    ]);
    const reasons = Object.entries(window.reasons).map(([reason, count]) => ({ reason, count }));
    return {
      taskType,
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

function failingCardOf({ cardId, atMs, inARow, ...rest }: NotedFailure): FailingCard {
  return { cardId, at: new Date(atMs), attempts: inARow, ...rest };
}

// What the live store noted over time: the numbers of the task types, sample by sample; and why polls failed, for which carriers
// and cards. Used by the admin API and, through it, by the dashboard's charts.
import { dated } from '../../domain/date-of.ts';
import { percentDown } from '../../domain/numbers.ts';
import type { FailingCarrier } from '../../domain/results/carrier-polls.ts';
import { failingCarriersOf } from '../../domain/results/carrier-polls.ts';
import {
  CARRIER_SLOTS_KEPT,
  type CarrierSlots,
  carrierSlotAt,
  keptSlotsWithin,
  startOfCarrierSlot,
  sumOfSlotCounts,
} from '../../domain/stats/carrier-slots.ts';
import { HISTORY_STEPS, type HistorySample, stepFor, type TaskSample } from '../../domain/stats/history.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { FailuresWithin, History, TaskFailures } from '../../resources/stats.ts';
import type { NotedFailure } from '../../store/ports/live/poll-stats.ts';
import type { OperationDeps } from '../deps.ts';

const SECOND_MS = 1_000;
const LATEST_CARDS = 20;
const WORST_CARRIERS = 10;

export class HistoryOperations {
  constructor(private readonly deps: Pick<OperationDeps, 'live'>) {}

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

  /**
   * The failures of a time by hour and carrier; for two days. @param givenMs null: a day before the end
   * @throws CardpollError `invalid` for a time that ends before it begins.
   */
  async failuresWithin(givenMs: number | null, untilMs: number | null): Promise<FailuresWithin> {
    const { live } = this.deps;
    const nowMs = await live.now();
    const toMs = Math.min(untilMs ?? nowMs, nowMs);
    const sinceMs = givenMs ?? toMs - USUAL_MS;
    if (toMs <= sinceMs) throw emptyTime();
    // A time that is over ends before its last instant.
    const slots = keptSlotsWithin(sinceMs, toMs === nowMs ? nowMs : toMs - 1, nowMs);
    const found = await Promise.all(
      TASK_TYPES.map(async (taskType) => ({
        taskType,
        slots: await live.stats.carrierSlots(taskType, slots),
      })),
    );
    const first = startOfCarrierSlot(carrierSlotAt(nowMs) - CARRIER_SLOTS_KEPT + 1);
    return {
      since: new Date(sinceMs),
      until: new Date(toMs),
      keptFrom: first > sinceMs ? new Date(Math.min(first, toMs)) : null,
      items: hoursOf(found),
    };
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

const HOUR_MS = 3_600_000;
const USUAL_MS = 24 * HOUR_MS;

type OfType = { readonly taskType: TaskType; readonly slots: CarrierSlots };

function hoursOf(found: readonly OfType[]): FailuresWithin['items'] {
  const hourOf = (slot: number) => Math.floor(startOfCarrierSlot(slot) / HOUR_MS) * HOUR_MS;
  const hours = [...new Set(found.flatMap(({ slots }) => [...slots.keys()].map(hourOf)))];
  return hours
    .sort((a, b) => a - b)
    .flatMap((hour) => {
      const items = found.flatMap(({ taskType, slots }) => {
        const own = [...slots].filter(([slot]) => hourOf(slot) === hour).map(([, counts]) => counts);
        return [...sumOfSlotCounts(own)].flatMap(([carrierId, { polls, failed }]) => {
          if (failed === 0) return [];
          const failedPercent = percentDown((100 * failed) / polls);
          return [{ at: new Date(hour), taskType, carrierId, polls, failed, failedPercent }];
        });
      });
      return items.sort((a, b) => b.failed - a.failed);
    });
}

function emptyTime(): CardpollError {
  const message = 'must be after since, which is not in the future';
  return new CardpollError('invalid', 'invalid_field', `until ${message}`, {
    fields: [{ field: 'until', message }],
  });
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
export function failingCardOf({ failuresInARow, ...failure }: NotedFailure): TaskFailures['cards'][number] {
  return { ...dated(failure), attempts: failuresInARow };
}

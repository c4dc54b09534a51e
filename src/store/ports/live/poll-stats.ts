// Port sections of live-store.ts for the record of polls: statistics, the history of samples (for charts), since when each
// problem has existed, and why polls of single cards failed. Both implementations count the statistics in the same ten-second
// slots; the functions below add them up to rolling windows.
import type { Counts, Durations } from '../../../domain/numbers.ts';
import { sumOfCounts } from '../../../domain/numbers.ts';
import type { PollsByCarrier } from '../../../domain/results/carrier-polls.ts';
import { sumOfCarriers } from '../../../domain/results/carrier-polls.ts';
import type { GrowthCounts, GrowthHistory } from '../../../domain/results/usage-growth.ts';
import type { CarrierSlots, CountsByCarrier } from '../../../domain/stats/carrier-slots.ts';
import type { HistorySample, HistoryStep } from '../../../domain/stats/history.ts';
import type { PollWindow } from '../../../domain/stats/task-metrics.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** Totals since counting began; each flush adds to them. */
export const STATS_TOTALS = [
  'succeeded',
  'failed',
  'durationMs', // of all polls
  'backpressure', // failed polls that were answered 429 or 503
  'timeouts', // failed polls that timed out
  'succeededMs', // the durations of succeeded polls
  'limitReached', // claims that found the limit reached
] as const;
export type StatsTotals = Readonly<Record<(typeof STATS_TOTALS)[number], number>>;

/** The counts of one slot, or of several. */
export interface StatsSlot extends PollWindow {
  /** Successful polls with a doubtful reading of usage; only of carddata. */
  readonly implausible: number;
  /** Polls of cards that have used something, and how many of them read far below that; only of carddata. */
  readonly counters: number;
  readonly fallen: number;
  readonly durations: Durations;
  /** Kind of failure ([a-z_]+) -> number of failed polls. */
  readonly reasons: Counts<string>;
  /** Polls by carrier, without the carriers beyond STATS_CARRIERS_MAX in a slot. */
  readonly carriers: PollsByCarrier;
}

/** The counts of one instance between two flushes. */
export interface StatsDelta extends StatsTotals, StatsSlot {
  /** Readings of usage that grew, by rate; only of carddata. */
  readonly usageGrowth: GrowthCounts;
  /** For the slots of ten minutes. */
  readonly byCarrier: CountsByCarrier;
}

export interface StatsReading extends StatsTotals {
  /** Polls since counting began. */
  readonly total: number;
  /** Polls of the last five minutes. */
  readonly window: StatsSlot & { readonly seconds: number };
  /** Polls of the last ten to twenty seconds. */
  readonly recent: {
    readonly polls: number;
    readonly succeeded: number;
    readonly seconds: number;
    readonly durations: Durations;
  };
  /** Polls of the last five to fifteen seconds; older ones, up to five minutes, until there are NOW_POLLS of them. */
  readonly now: StatsSlot & { readonly seconds: number };
  /** Like `now`, with older slots without failures until there are LATELY_POLLS polls: the basis for judging success. */
  readonly lately: StatsSlot & { readonly seconds: number };
}

/** Length of the rolling window of success_rate and avg_duration_ms (contract, "Fields"). */
export const STATS_WINDOW_SECONDS = 300;

/** Polls are counted in slots of this length; `recent` is the current slot and the previous one. */
export const STATS_SLOT_SECONDS = 10;

/** Age from which the current slot alone describes the present; before that the previous slot is added. */
const NOW_SECONDS = 5;
/** A mean of fewer polls than this means little. */
const NOW_POLLS = 10;
/** A share of fewer polls than this may be chance. */
export const LATELY_POLLS = 25;

/** A slot counts at most this many carriers (the first ones), so that its size is bounded. */
export const STATS_CARRIERS_MAX = 50;

export interface PollStats {
  /** Adds the counts of an instance. `flushNumber` grows by one each flush: a repeated flush counts once. */
  record(taskType: TaskType, instanceId: string, flushNumber: number, delta: StatsDelta): Promise<void>;
  read(taskType: TaskType): Promise<StatsReading>;
  /** @returns the slots of ten minutes that these are part of, by the store's clock, without those that are empty or no longer kept. */
  carrierSlots(taskType: TaskType, slots: readonly number[]): Promise<CarrierSlots>;
  /**
   * The growth of readings of the last GROWTH_MINUTES, by the store's clock, without minutes in which none grew, and the recorded
   * peaks of the last GROWTH_HOURS.
   */
  usageGrowth(): Promise<GrowthHistory>;
  /** Records the fastest growth of an hour. Replaces an earlier record of it, and of hours that are no longer needed. */
  noteUsagePeak(hour: number, mbPerHour: number): Promise<void>;
  /** Deletes the growth that was recorded at that time (epoch milliseconds) and later, and the peaks of these hours. */
  forgetUsageGrowth(sinceMs: number): Promise<void>;
}

/** Samples of all task types. Each step keeps a fixed number of them: the latest replace the oldest. */
export interface HistoryLog {
  /** Saves a sample. Replaces one of the same step and time. */
  save(step: HistoryStep, sample: HistorySample): Promise<void>;
  /** @returns the samples at and after `sinceMs` (epoch milliseconds), oldest first. */
  read(step: HistoryStep, sinceMs: number): Promise<readonly HistorySample[]>;
}

/** Stores since when each named problem has existed. */
export interface HealthLog {
  /** Notes problems that exist now. One that is not noted again within `holdsMs` has ended, and starts again if it returns. */
  note(names: readonly string[], holdsMs: number): Promise<void>;
  /** @returns name -> since when the problem has existed without a gap, epoch milliseconds. */
  since(): Promise<ReadonlyMap<string, number>>;
}

/** Why a card's last poll failed. */
export interface FailureNote {
  readonly cardId: number;
  /** The kind of failure, as the log's `error` field shows it. */
  readonly reason: string;
  readonly message: string;
  readonly durationMs: number;
}

export interface NotedFailure extends FailureNote {
  readonly atMs: number;
  /** Number of failed scheduled polls in a row; 0 when the card has been polled successfully since. */
  readonly failuresInARow: number;
}

/** For each task type, the latest failures of this many cards are stored. */
export const MAX_FAILURES_NOTED = 10_000;

/** Stores why polls of single cards failed, for reports about a card. */
export interface FailureLog {
  /** Stores the failures. Replaces earlier notes about these cards. */
  note(taskType: TaskType, failures: readonly FailureNote[]): Promise<void>;
  /**
   * @returns the last failure by card id; without cards that never failed, or whose note was replaced by MAX_FAILURES_NOTED later
   * ones.
   */
  last(taskType: TaskType, cardIds: readonly number[]): Promise<ReadonlyMap<number, NotedFailure>>;
  /** @returns the number of failing cards, and the `max` (up to 100) latest of them, latest first. */
  failing(taskType: TaskType, max: number): Promise<{ total: number; latest: readonly NotedFailure[] }>;
}

const SLOT_MS = STATS_SLOT_SECONDS * 1000;

export function slotAt(atMs: number): number {
  return Math.floor(atMs / SLOT_MS);
}

/** @returns the index of the first slot of the window that ends now. */
export function oldestSlot(nowMs: number): number {
  return slotAt(nowMs) - STATS_WINDOW_SECONDS / STATS_SLOT_SECONDS + 1;
}

/** @param sinceMs when counting began, epoch milliseconds. */
export function windowsOf(
  slots: ReadonlyMap<number, StatsSlot>,
  sinceMs: number,
  nowMs: number,
): Pick<StatsReading, 'window' | 'recent' | 'now' | 'lately'> {
  const from = (first: number) => ({
    ...sumOfSlots([...slots].filter(([slot]) => slot >= first).map(([, counted]) => counted)),
    // When counting began a minute ago, the window is one minute long.
    seconds: Math.max(1, (nowMs - Math.max(first * SLOT_MS, sinceMs)) / 1000),
  });
  const { succeeded, failed, seconds, durations } = from(slotAt(nowMs) - 1);
  const recent = { polls: succeeded + failed, succeeded, seconds, durations };
  let first = slotAt(nowMs - NOW_SECONDS * 1000);
  let now = from(first);
  while (now.succeeded + now.failed < NOW_POLLS && first > oldestSlot(nowMs)) now = from(--first);
  let lately = now;
  const nothingFailed = (slot: number) => (slots.get(slot)?.failed ?? 0) === 0;
  while (
    lately.succeeded + lately.failed < LATELY_POLLS &&
    first > oldestSlot(nowMs) &&
    nothingFailed(first - 1)
  )
    lately = from(--first);
  return { window: from(oldestSlot(nowMs)), recent, now, lately };
}

/** @param mostCarriers limits the carriers in the sum; without it the sum has all. */
export function sumOfSlots(slots: readonly StatsSlot[], mostCarriers?: number): StatsSlot {
  const sum = (field: keyof PollWindow | 'implausible' | 'counters' | 'fallen') =>
    slots.reduce((total, slot) => total + slot[field], 0);
  return {
    succeeded: sum('succeeded'),
    failed: sum('failed'),
    durationMs: sum('durationMs'),
    succeededMs: sum('succeededMs'),
    implausible: sum('implausible'),
    counters: sum('counters'),
    fallen: sum('fallen'),
    durations: sumOfCounts(slots.map(({ durations }) => durations)),
    reasons: sumOfCounts(slots.map(({ reasons }) => reasons)),
    carriers: sumOfCarriers(
      slots.map(({ carriers }) => carriers),
      mostCarriers,
    ),
  };
}

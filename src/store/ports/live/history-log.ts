// Port sections of live-store.ts: the history of samples, for charts, and since when each problem has existed.
import type { HistorySample, HistoryStep } from '../../../domain/stats/history.ts';

/** Samples of all task types. Each step keeps a fixed number of them: the latest replace the oldest. */
export interface HistoryLog {
  /** Saves a sample, in place of one of the same step and time. */
  save(step: HistoryStep, sample: HistorySample): Promise<void>;
  /** @returns the samples at and after `sinceMs` (epoch milliseconds), oldest first. */
  read(step: HistoryStep, sinceMs: number): Promise<readonly HistorySample[]>;
}

/** Stores since when each named problem has existed. */
export interface HealthLog {
  /** Notes problems that exist now. One that is not noted again within `holdsMs` has ended, and later begins anew. */
  note(names: readonly string[], holdsMs: number): Promise<void>;
  /** @returns name -> since when the problem has existed without a gap, epoch milliseconds. */
  since(): Promise<ReadonlyMap<string, number>>;
}

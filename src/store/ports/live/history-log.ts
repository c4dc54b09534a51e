// Port section of live-store.ts: the history of samples, for charts.
import type { HistorySample, HistoryStep } from '../../../domain/stats/history.ts';

/** Samples of all task types. Each step keeps a fixed number of them: the latest replace the oldest. */
export interface HistoryLog {
  /** Saves a sample, in place of one of the same step and time. */
  save(step: HistoryStep, sample: HistorySample): Promise<void>;
  /** @returns the samples at and after `sinceMs` (epoch milliseconds), oldest first. */
  read(step: HistoryStep, sinceMs: number): Promise<readonly HistorySample[]>;
}

// Port section of live-store.ts: samples of the past, for charts.
import type { HistorySample, HistoryStep } from '../../../domain/stats/history.ts';

/** Samples of what the task types did, in a ring of fixed size for each step: the latest replace the oldest. */
export interface HistoryLog {
  /** A sample of the same step and time is replaced. */
  save(step: HistoryStep, sample: HistorySample): Promise<void>;
  /** Those at and after `sinceMs`, oldest first. */
  read(step: HistoryStep, sinceMs: number): Promise<readonly HistorySample[]>;
}

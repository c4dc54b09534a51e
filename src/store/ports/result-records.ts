// Port section of record-store.ts: what polls found out.
import type { PollOutcome } from '../../domain/poll-outcome.ts';

export interface ResultRecords {
  /**
   * Writes a batch of outcomes in one transaction: last-polled times, verification and stopped flags, usage months,
   * usage records (one per changed reading).
   * @returns card ids whose usage was not written because a newer state exists (UsageChange.basedOnReadAtMs did not
   * match); everything else of those outcomes was written.
   */
  write(outcomes: readonly PollOutcome[]): Promise<{ staleUsage: readonly number[] }>;

  /** Creates the usage partitions of this month and the next three. Idempotent. @param month YYYY-MM */
  ensurePartitions(month: string): Promise<void>;
}

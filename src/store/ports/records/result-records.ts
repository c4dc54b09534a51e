// Port section of record-store.ts: the results of polls.
import type { PollOutcome } from '../../../domain/results/poll-outcome.ts';

export interface FoldBackRequest {
  /** The present month, YYYY-MM. */
  readonly present: string;
  /** The last month (YYYY-MM) that has begun in any time zone; usage of later months is folded back. */
  readonly latest: string;
  readonly afterCardId: number;
  readonly limit: number;
}

export interface ResultRecords {
  /**
   * Writes a batch of outcomes in one transaction: last-polled times, verification and stopped flags, usage months,
   * usage records (one per changed reading).
   * @returns ids of cards whose usage was not written, because a newer state exists (UsageChange.basedOnReadAtMs did not
   * match) or because the reading is more than an hour ahead of the store's clock. The rest of their outcomes is
   * written.
   */
  write(outcomes: readonly PollOutcome[]): Promise<{ staleUsage: readonly number[] }>;

  /**
   * Adds usage of months that have not begun to the present month, and moves stops of those months there too. Works in
   * order of card id, is idempotent, and is safe while others write. @returns the ids of the cards, ascending.
   */
  foldBack(request: FoldBackRequest): Promise<readonly number[]>;

  /** Creates the usage partitions of this month and the next three. Idempotent. @param month YYYY-MM */
  ensurePartitions(month: string): Promise<void>;
}

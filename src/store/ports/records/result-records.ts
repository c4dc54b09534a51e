// Port section of record-store.ts: what polls found out.
import type { PollOutcome } from '../../../domain/results/poll-outcome.ts';

export interface FoldBackRequest {
  /** YYYY-MM */
  readonly present: string;
  /** The last month (YYYY-MM) that has begun anywhere; later ones are folded back. */
  readonly latest: string;
  readonly afterCardId: number;
  readonly limit: number;
}

export interface ResultRecords {
  /**
   * Writes a batch of outcomes in one transaction: last-polled times, verification and stopped flags, usage months,
   * usage records (one per changed reading).
   * @returns card ids whose usage was not written because a newer state exists (UsageChange.basedOnReadAtMs did not
   * match), or because the reading is more than an hour ahead of the store's clock; everything else of those outcomes was
   * written.
   */
  write(outcomes: readonly PollOutcome[]): Promise<{ staleUsage: readonly number[] }>;

  /**
   * Adds usage that was counted in months that have not begun to the present one, which goes on from there; stops of those
   * months become the present one's. In card order, idempotent, safe beside writers. @returns the cards, ascending.
   */
  foldBack(request: FoldBackRequest): Promise<readonly number[]>;

  /** Creates the usage partitions of this month and the next three. Idempotent. @param month YYYY-MM */
  ensurePartitions(month: string): Promise<void>;
}

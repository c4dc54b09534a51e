// Port section of record-store.ts: retention, and the cleanup runs that enforce it. One leader takes the steps; every
// method is safe when two instances call it at once.

import type { MonthCalendar } from '../../../domain/cards/usage-month.ts';
import type { CleanupBounds, CleanupConfig, CleanupTarget } from '../../../domain/cleanup.ts';

/** What a run would remove of one enabled target. */
export interface CleanupPlanItem extends CleanupBounds {
  readonly id: number;
  readonly target: CleanupTarget;
  readonly retentionDays: number;
  readonly rows: number;
  /** True where counting takes too long: `rows` is then the database's own estimate. */
  readonly estimated: boolean;
}

export interface CleanupPlan {
  /** In order of CLEANUP_TARGETS; disabled targets are left out. */
  readonly items: readonly CleanupPlanItem[];
  readonly changeMark: string | null;
}

export interface CleanupItem {
  readonly target: CleanupTarget;
  /** Rows that had expired when the run began (see CleanupPlanItem.estimated); what was removed, once it is done. */
  readonly total: number;
  readonly deleted: number;
  /** Why it could not be cleaned; null while all is well. */
  readonly error: string | null;
}

export interface CleanupRun {
  readonly runId: string;
  readonly status: 'running' | 'completed' | 'failed';
  readonly items: readonly CleanupItem[];
  /** Transactions so far; each removed at most CLEANUP_BATCH_ROWS rows, or one whole partition. */
  readonly batches: number;
  readonly startedAtMs: number;
  /** null while running. */
  readonly finishedAtMs: number | null;
}

/** What one step of the running run came to. */
export type CleanupStep =
  | { readonly state: 'idle' } // no run is running
  | { readonly state: 'going'; readonly deleted: number }
  | { readonly state: 'finished'; readonly run: CleanupRun };

/**
 * One run at a time, fleet-wide and across restarts: `begin` writes it down, then whoever leads calls `step` until it
 * is finished. A step is one short transaction that removes rows and notes the progress together.
 */
export interface CleanupRecords {
  /** By id. */
  configs(): Promise<CleanupConfig[]>;
  /** @returns the updated config, or null for an unknown id. */
  updateConfig(
    id: number,
    patch: { retentionDays?: number; enabled?: boolean },
  ): Promise<CleanupConfig | null>;
  /**
   * Counts what has expired, within about two seconds.
   * @param changeMark mark of CardRecords.changesSince up to which removed cards have been followed; null: unknown, and
   * no removed card is forgotten.
   */
  plan(at: { nowMs: number; calendar: MonthCalendar; changeMark: string | null }): Promise<CleanupPlan>;
  /** @returns false when a run is running, or one was begun for the same scheduled instant. */
  begin(runId: string, plan: CleanupPlan, scheduledForMs: number | null): Promise<boolean>;
  step(): Promise<CleanupStep>;
  /** Gives up on the target the running run is at: the run goes on with the others and ends as failed. */
  skipTarget(error: string): Promise<void>;
  /**
   * Gives up on every target the running run is not through with: no further row is removed, and it ends as failed with
   * the next step, whoever leads. @returns false when none is running.
   */
  cancel(reason: string): Promise<boolean>;
  /** The running run, else the last one; null before any. */
  latest(): Promise<CleanupRun | null>;
}

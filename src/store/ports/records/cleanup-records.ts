// Port section of record-store.ts: retention, and the cleanup runs that enforce it. One leader takes the steps; every
// method is safe when two instances call it at once.

import type { MonthCalendar } from '../../../domain/cards/month-calendar.ts';
import type { CleanupBounds, CleanupConfig, CleanupTarget } from '../../../domain/cleanup.ts';

/** The rows that a run would remove from one enabled target. */
export interface CleanupPlanItem extends CleanupBounds {
  readonly id: number;
  readonly target: CleanupTarget;
  readonly retentionDays: number;
  readonly rows: number;
  /** True when counting takes too long: `rows` is then the database's own estimate. */
  readonly estimated: boolean;
}

export interface CleanupPlan {
  /** One item for each enabled target, in order of CLEANUP_TARGETS. */
  readonly items: readonly CleanupPlanItem[];
  readonly changeMark: string | null;
}

export interface CleanupItem {
  readonly target: CleanupTarget;
  /** Rows that had expired when the run began (see CleanupPlanItem.estimated); after the run, the removed rows. */
  readonly total: number;
  readonly deleted: number;
  /** Why the target could not be cleaned; null: no error. */
  readonly error: string | null;
}

export interface CleanupRun {
  readonly runId: string;
  readonly status: 'running' | 'completed' | 'failed';
  readonly items: readonly CleanupItem[];
  /** Number of transactions so far; each removed at most CLEANUP_BATCH_ROWS rows, or one whole partition. */
  readonly batches: number;
  readonly startedAtMs: number;
  /** When the run ended; null while it is running. */
  readonly finishedAtMs: number | null;
}

/** The result of one step of the running run. */
export type CleanupStep =
  | { readonly state: 'idle' } // no run is running
  | { readonly state: 'going'; readonly deleted: number }
  | { readonly state: 'finished'; readonly run: CleanupRun };

/**
 * One run at a time, fleet-wide and across restarts: `begin` records the run, then the leader calls `step` until the
 * run is finished. A step is one short transaction that removes rows and saves the progress.
 */
export interface CleanupRecords {
  /** @returns the configs in order of id. */
  configs(): Promise<CleanupConfig[]>;
  /** @returns the updated config, or null for an unknown id. */
  updateConfig(
    id: number,
    patch: { retentionDays?: number; enabled?: boolean },
  ): Promise<CleanupConfig | null>;
  /**
   * Counts expired rows, within about two seconds.
   * @param changeMark mark of CardRecords.changesSince up to which removed cards were applied to the rings; if null
   * (unknown), no removed card is cleaned up.
   */
  plan(at: { nowMs: number; calendar: MonthCalendar; changeMark: string | null }): Promise<CleanupPlan>;
  /** @returns false when a run is running, or when one was begun for the same scheduled time. */
  begin(runId: string, plan: CleanupPlan, scheduledForMs: number | null): Promise<boolean>;
  step(): Promise<CleanupStep>;
  /** Ends the work on the current target of the running run: the run continues with the others and ends as failed. */
  skipTarget(error: string): Promise<void>;
  /**
   * Ends the work on every unfinished target of the running run: no further row is removed, and the run ends as failed with the
   * next step. @returns false when no run is running.
   */
  cancel(reason: string): Promise<boolean>;
  /** @returns the running run, otherwise the last one; null before the first run. */
  latest(): Promise<CleanupRun | null>;
}

// The data that a cleanup removes (operations interface, sections 2.5 and 8): plain data and the one rule that turns a
// retention into bounds. Used by the store, the engine and the operations.
import type { AuditChange } from './audit.ts';
import { type MonthCalendar, monthBefore } from './cards/month-calendar.ts';

/** All data that grows without limit, in the order of a run. */
export const CLEANUP_TARGETS = [
  'usage_records',
  'card_usage',
  'alert_history',
  'webhook_outbox',
  'manual_triggers',
  'card_stops',
  'card_removals',
  'cleanup_runs',
  'audit',
  'card_resumes',
] as const;
export type CleanupTarget = (typeof CLEANUP_TARGETS)[number];

/** Maximum number of rows that one transaction removes (operations interface, section 8). */
export const CLEANUP_BATCH_ROWS = 10_000;

export const RETENTION_DAYS_BOUNDS = { min: 1, max: 3_650 } as const;

const DAY_MS = 86_400_000;

export interface CleanupConfig {
  readonly id: number;
  readonly target: CleanupTarget;
  readonly retentionDays: number;
  readonly enabled: boolean;
  /** When a run last completed this target. */
  readonly lastRunAtMs: number | null;
}

/** A row expires when it is older than the cutoff AND, if it belongs to a month, that month is an earlier one. */
export interface CleanupBounds {
  readonly cutoffMs: number;
  /** YYYY-MM. Only usage_records may lose single rows of this month; all other monthly data of that month stays. */
  readonly firstKeptMonth: string;
}

/**
 * The bounds of one target. Monthly data that is still needed stays, whatever the retention: stops of the current month (they
 * keep a card from being stopped twice), and usage of the current and the previous month (the first reading of a month is
 * compared with the last one of the month before).
 */
export function cleanupBounds(
  target: CleanupTarget,
  retentionDays: number,
  nowMs: number,
  calendar: MonthCalendar,
): CleanupBounds {
  const cutoffMs = nowMs - retentionDays * DAY_MS;
  const ofCutoff = calendar.monthOf(cutoffMs);
  const current = calendar.monthOf(nowMs);
  switch (target) {
    case 'card_usage': {
      const before = monthBefore(current);
      return { cutoffMs, firstKeptMonth: ofCutoff < before ? ofCutoff : before };
    }
    case 'card_stops':
      return { cutoffMs, firstKeptMonth: current };
    default:
      return { cutoffMs, firstKeptMonth: ofCutoff };
  }
}

/** The audit entry of a run that begins. */
export function cleanupBegun(
  runId: string,
  plan: {
    readonly items: ReadonlyArray<{
      readonly target: CleanupTarget;
      readonly retentionDays: number;
      readonly rows: number;
    }>;
  },
): AuditChange {
  const items = plan.items.map(({ target, retentionDays, rows }) => ({ target, retentionDays, rows }));
  return { action: 'cleanup.begin', object: `cleanup ${runId}`, before: null, after: { items } };
}

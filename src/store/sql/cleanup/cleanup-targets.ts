// The conditions of expiry for each cleanup target, which is a table: those of cleanup-targets.sql with their values. Used by
// cleanup.ts and cleanup-step.ts; no other file decides which rows may be removed.
import { CLEANUP_TARGETS, type CleanupBounds, type CleanupTarget } from '../../../domain/cleanup.ts';
import { parseMark } from '../client/change-mark.ts';
import { fill, statements } from '../client/statements.ts';
import file from './cleanup-targets.sql';
import { monthStart } from './partitions.ts';

const sql = statements(file);

/** Partitioned by month: partitions before the first kept month are removed as a whole. */
const MONTHLY: ReadonlySet<CleanupTarget> = new Set(['usage_records', 'card_usage', 'audit']);

/** One when an alert fires, and one when it is resolved. */
const NOTIFICATIONS_AN_ALERT = 2;

const ROWS_EACH: Partial<Record<CleanupTarget, number>> = {
  alert_history: 1 + NOTIFICATIONS_AN_ALERT,
  cleanup_runs: 1 + CLEANUP_TARGETS.length,
};

/** The expired part of a target. */
export interface ExpiredOf extends CleanupBounds {
  readonly target: CleanupTarget;
  readonly changeMark: string | null;
}

/** The table of a target whose rows are scanned one by one. */
export interface WalkedTable {
  /** The table of the target or, if it is monthly, the partition that the cutoff falls into. */
  readonly table: string;
  readonly monthly: boolean;
  /** The condition of the rows to remove; null: none are removed individually. */
  readonly expired: string | null;
  /** Rows that are removed with each row, itself included. */
  readonly rowsEach: number;
}

export function walkedTable(of: ExpiredOf): WalkedTable {
  const { target, firstKeptMonth } = of;
  const rowsEach = ROWS_EACH[target] ?? 1;
  if (!MONTHLY.has(target)) {
    return { table: target, monthly: false, expired: withValues(sql.text(target), of), rowsEach };
  }
  const expired = target === 'usage_records' ? withValues(sql.text('usage_records_rows'), of) : null;
  return { table: `${target}_${firstKeptMonth.replace('-', '_')}`, monthly: true, expired, rowsEach };
}

/** Selects all expired rows of a target. */
export function expiredRows(of: ExpiredOf): string {
  return fill(sql.text('expired'), { table: of.target, expired: withValues(sql.text(of.target), of) });
}

/** A condition with its values, which are numbers or checked here, so none needs a quote. */
function withValues(condition: string, { cutoffMs, firstKeptMonth, changeMark }: ExpiredOf): string {
  return fill(condition, {
    cutoff: `to_timestamp(${cutoffMs / 1_000})`,
    month: `'${monthStart(firstKeptMonth)}'::date`,
    snapshot: changeMark === null ? 'NULL::pg_snapshot' : `'${parseMark(changeMark).lower}'::pg_snapshot`,
  });
}

// What expires of each cleanup target, as SQL. Used by cleanup-plan.ts and cleanup-step.ts; nobody else says which rows
// may go. A table of a later migration may be missing still: it then has nothing to clean.
//
// In conditions {cutoff} stands for the instant, {month} for the first kept month and {snapshot} for the snapshot up
// to which the change feed is through (NULL: unknown, and nothing compares true with it).
import { CLEANUP_TARGETS, type CleanupBounds, type CleanupTarget } from '../../domain/cleanup.ts';
import type { SqlCondition } from './bounded-count.ts';
import { parseMark } from './change-window.ts';
import { monthStart } from './partitions.ts';
import type { SqlValue } from './sql-client.ts';

export interface TargetTable {
  readonly table: string;
  /** Everything of the target that has expired; what counting counts. */
  readonly expired: string;
  /** Partitioned by month: partitions before the first kept month go as a whole. */
  readonly monthly: boolean;
  /** Rows that go one by one, from `walkedTable`; null: none do. */
  readonly walked: string | null;
  /** Rows that go with each row, itself included. */
  readonly rowsEach: number;
}

/** One when it fires and one when it is resolved. */
const NOTIFICATIONS_AN_ALERT = 2;

/** Rows of a plain table. */
function plain(table: string, expired: string, rowsEach = 1): TargetTable {
  return { table, expired, monthly: false, walked: expired, rowsEach };
}

export const TARGET_TABLES: Record<CleanupTarget, TargetTable> = {
  usage_records: {
    table: 'usage_records',
    expired: 'month < {month} OR (month = {month} AND recorded_at < {cutoff})',
    monthly: true,
    walked: 'recorded_at < {cutoff}',
    rowsEach: 1,
  },
  card_usage: {
    table: 'card_usage',
    expired: 'month < {month}',
    monthly: true,
    walked: null,
    rowsEach: 1,
  },
  alert_history: plain(
    'alert_history',
    'resolved_at IS NOT NULL AND fired_at < {cutoff}',
    1 + NOTIFICATIONS_AN_ALERT,
  ),
  webhook_outbox: plain('webhook_outbox', "status <> 'pending' AND settled_at < {cutoff}"),
  manual_triggers: plain('manual_triggers', 'finished_at < {cutoff} AND NOT feeding'),
  card_stops: plain('card_stops', 'requested_at < {cutoff} AND month < {month}'),
  card_removals: plain(
    'card_removals',
    'removed_at < {cutoff} AND pg_visible_in_snapshot(changed_xid, {snapshot})',
  ),
  cleanup_runs: plain('cleanup_runs', 'finished_at < {cutoff}', 1 + CLEANUP_TARGETS.length),
  audit: { table: 'audit', expired: 'month < {month}', monthly: true, walked: null, rowsEach: 1 },
};

/** The one table whose rows are looked at one by one: the partition the cutoff falls into, or the table itself. */
export function walkedTable({ table, monthly }: TargetTable, firstKeptMonth: string): string {
  return monthly ? `${table}_${firstKeptMonth.replace('-', '_')}` : table;
}

/** A condition with its values as parameters from $1 on; more may follow. */
export function bindCondition(
  condition: string,
  { cutoffMs, firstKeptMonth }: CleanupBounds,
  changeMark: string | null,
): SqlCondition {
  const values: Record<string, { readonly sql: (n: number) => string; readonly value: SqlValue }> = {
    cutoff: { sql: (n) => `to_timestamp($${n}::float8 / 1000)`, value: cutoffMs },
    month: { sql: (n) => `$${n}::date`, value: monthStart(firstKeptMonth) },
    snapshot: {
      sql: (n) => `$${n}::pg_snapshot`,
      value: changeMark === null ? null : parseMark(changeMark).lower,
    },
  };
  const used = Object.entries(values).filter(([name]) => condition.includes(`{${name}}`));
  return {
    sql: used.reduce((text, [name, { sql }], i) => text.replaceAll(`{${name}}`, sql(i + 1)), condition),
    params: used.map(([, { value }]) => value),
  };
}

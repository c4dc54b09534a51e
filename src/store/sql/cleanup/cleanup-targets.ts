// What expires of each cleanup target: tables, and the conditions of cleanup-targets.sql with their parameters. Used by
// cleanup.ts and cleanup-step.ts; no other file says which rows may go.
import { CLEANUP_TARGETS, type CleanupBounds, type CleanupTarget } from '../../../domain/cleanup.ts';
import { parseMark } from '../cards/card-changes.ts';
import type { SqlValue } from '../client/sql-client.ts';
import { fill, statements } from '../client/statements.ts';
import file from './cleanup-targets.sql';
import { monthStart } from './partitions.ts';

const SQL = statements(file, 'expired', 'usage_records_rows', ...CLEANUP_TARGETS);

export interface TargetTable {
  readonly table: string;
  /** Partitioned by month: partitions before the first kept month go as a whole. */
  readonly monthly: boolean;
  /** The condition of the rows that go one by one, from `walkedTable`; null: none do. */
  readonly walked: string | null;
  /** Rows that go with each row, itself included. */
  readonly rowsEach: number;
}

/** One when it fires and one when it is resolved. */
const NOTIFICATIONS_AN_ALERT = 2;

/** Rows of a plain table. */
function plain(table: CleanupTarget, rowsEach = 1): TargetTable {
  return { table, monthly: false, walked: SQL[table].text, rowsEach };
}

/** Whole months of a table. */
function monthly(table: CleanupTarget, walked: string | null = null): TargetTable {
  return { table, monthly: true, walked, rowsEach: 1 };
}

export const TARGET_TABLES: Record<CleanupTarget, TargetTable> = {
  usage_records: monthly('usage_records', SQL.usage_records_rows.text),
  card_usage: monthly('card_usage'),
  alert_history: plain('alert_history', 1 + NOTIFICATIONS_AN_ALERT),
  webhook_outbox: plain('webhook_outbox'),
  manual_triggers: plain('manual_triggers'),
  card_stops: plain('card_stops'),
  card_removals: plain('card_removals'),
  cleanup_runs: plain('cleanup_runs', 1 + CLEANUP_TARGETS.length),
  audit: monthly('audit'),
  card_resumes: plain('card_resumes'),
};

/** The one table whose rows are looked at one by one: the partition the cutoff falls into, or the table itself. */
export function walkedTable({ table, monthly }: TargetTable, firstKeptMonth: string): string {
  return monthly ? `${table}_${firstKeptMonth.replace('-', '_')}` : table;
}

interface BoundSql {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** Selects everything of a target that has expired. */
export function expiredRows(
  target: CleanupTarget,
  bounds: CleanupBounds,
  changeMark: string | null,
): BoundSql {
  const { sql, params } = bindCondition(SQL[target].text, 1, bounds, changeMark);
  return { sql: fill(SQL.expired, { table: TARGET_TABLES[target].table, expired: sql }), params };
}

/** A condition with the values it names as parameters from number `first` on. */
export function bindCondition(
  condition: string,
  first: number,
  { cutoffMs, firstKeptMonth }: CleanupBounds,
  changeMark: string | null,
): BoundSql {
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
    sql: used.reduce((text, [name, { sql }], i) => text.replaceAll(`{${name}}`, sql(first + i)), condition),
    params: used.map(([, { value }]) => value),
  };
}

// Counts rows in bounded time. Used by cleanup-plan.ts and, for a partition about to be dropped, by cleanup-step.ts.
import type { SqlClient, SqlValue } from './sql-client.ts';
import { sqlStateOf } from './sql-errors.ts';

const QUERY_CANCELED = '57014';

/** A condition with its values as parameters from $1 on. */
export interface SqlCondition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/**
 * The rows of a table that meet the condition: counted, or the planner's estimate where that takes longer than
 * `withinMs` (a database in this process is never interrupted and always counts). A table that is missing has none.
 */
export async function countWithin(
  client: SqlClient,
  table: string,
  { sql, params }: SqlCondition,
  withinMs: number,
): Promise<{ rows: number; estimated: boolean }> {
  const [found] = await client.query<{ present: boolean }>('SELECT to_regclass($1) IS NOT NULL AS present', [
    table,
  ]);
  if (found?.present !== true) return { rows: 0, estimated: false };
  try {
    const rows = await client.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${withinMs}`);
      const counted = await tx.query<{ rows: number }>(
        `SELECT count(*) AS rows FROM ${table} WHERE ${sql}`,
        params,
      );
      return Number(counted[0]?.rows);
    });
    return { rows, estimated: false };
  } catch (error) {
    if (sqlStateOf(error) !== QUERY_CANCELED) throw error;
    return { rows: await estimate(client, table, { sql, params }), estimated: true };
  }
}

async function estimate(client: SqlClient, table: string, condition: SqlCondition): Promise<number> {
  const [row] = await client.query<{ 'QUERY PLAN': ReadonlyArray<{ Plan: { 'Plan Rows': number } }> }>(
    `EXPLAIN (FORMAT JSON) SELECT 1 FROM ${table} WHERE ${condition.sql}`,
    condition.params,
  );
  return row?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}

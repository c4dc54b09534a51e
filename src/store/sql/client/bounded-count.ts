// Counts rows in bounded time: for the audit trail, by-condition triggers and cleanup.
import file from './bounded-count.sql';
import type { SqlClient, SqlValue } from './sql-client.ts';
import { sqlStateOf } from './sql-errors.ts';
import { fill, statements } from './statements.ts';
import { limitStatements } from './transaction-bounds.ts';

const sql = statements(file);

/** An exact number is not worth a longer wait. Well within the admin API's time limit for an answer. */
export const COUNT_WITHIN_MS = 2_000;

const QUERY_CANCELED = '57014';
const UNDEFINED_TABLE = '42P01';

/**
 * The number of rows that a statement selects: counted, or the planner's estimate if that takes longer than `withinMs` (a
 * database in this process is never interrupted and always counts). 0 for a partition that is gone.
 */
export async function countWithin(
  client: SqlClient,
  rows: string,
  params: readonly SqlValue[],
  withinMs = COUNT_WITHIN_MS,
): Promise<{ readonly rows: number; readonly estimated: boolean }> {
  try {
    const [counted] = await client.transaction(async (tx) => {
      await limitStatements(tx, withinMs);
      return tx.query<{ rows: number }>(fill(sql.text('count'), { rows }), params);
    });
    return { rows: Number(counted?.rows), estimated: false };
  } catch (error) {
    if (sqlStateOf(error) === UNDEFINED_TABLE) return { rows: 0, estimated: false };
    if (sqlStateOf(error) !== QUERY_CANCELED) throw error;
    return { rows: await estimate(client, rows, params), estimated: true };
  }
}

async function estimate(client: SqlClient, rows: string, params: readonly SqlValue[]): Promise<number> {
  const [row] = await client.query<{ 'QUERY PLAN': ReadonlyArray<{ Plan: { 'Plan Rows': number } }> }>(
    fill(sql.text('estimate'), { rows }),
    params,
  );
  return row?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}

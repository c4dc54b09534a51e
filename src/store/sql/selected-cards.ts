// How many cards a selection matches, for as long as an operator likes to wait: beyond that the planner's estimate.
// Used by triggers.ts.
import type { CardSelection } from '../../domain/manual-trigger.ts';
import type { SqlClient } from './sql-client.ts';
import { sqlStateOf } from './sql-errors.ts';

/** What a statement that ran into its timeout raises. */
const QUERY_CANCELED = '57014';

export async function countSelectedCards(
  client: SqlClient,
  selection: CardSelection,
  withinMs: number,
): Promise<{ count: number; estimated: boolean }> {
  const where = whereOf(selection);
  try {
    const [row] = await client.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${Math.ceil(withinMs)}`);
      return tx.query<{ count: number }>(`SELECT count(*) AS count FROM cards ${where}`);
    });
    return { count: row?.count ?? 0, estimated: false };
  } catch (error) {
    if (sqlStateOf(error) !== QUERY_CANCELED) throw error;
    return { count: await estimate(client, where), estimated: true };
  }
}

async function estimate(client: SqlClient, where: string): Promise<number> {
  const [plan] = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN SELECT FROM cards ${where}`);
  return Number(/ rows=(\d+) /.exec(plan?.['QUERY PLAN'] ?? '')?.[1] ?? 0);
}

/** The values stand in the text, since the planner estimates nothing for parameters; they are numbers. */
function whereOf({ carrierId, status }: CardSelection): string {
  const conditions = [
    ...(carrierId === null ? [] : [`carrier_id = ${Number(carrierId)}`]),
    ...(status === null ? [] : [`status = ${Number(status)}`]),
  ];
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

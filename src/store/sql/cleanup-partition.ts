// Removes a whole expired month: the partition is detached without blocking writers, then dropped. Used by
// cleanup-step.ts, which notes in between what is being dropped, so that a half-detached partition is found again.
import type { SqlClient, SqlRunner } from './sql-client.ts';

/** A detached table is nobody's; only a vacuum or a curious reader may still hold it. */
const DROP_LOCK_TIMEOUT_MS = 1_000;

/**
 * The oldest partition of a table that ends before `firstKept` (YYYY-MM-01), or one that a failed run left detached;
 * null when there is none. The name is quoted where it needs to be.
 */
export async function expiredPartition(
  runner: SqlRunner,
  table: string,
  firstKept: string,
): Promise<string | null> {
  const [row] = await runner.query<{ name: string }>(
    `SELECT child.oid::regclass::text AS name
     FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = $1::regclass
       AND (regexp_match(pg_get_expr(child.relpartbound, child.oid), 'TO \\(''([0-9-]+)''\\)'))[1]::date <= $2::date
     UNION
     SELECT dropping FROM cleanup_run_items WHERE target = $3 AND to_regclass(dropping) IS NOT NULL
     ORDER BY name LIMIT 1`,
    [table, firstKept, table],
  );
  return row?.name ?? null;
}

/**
 * Takes the partition out of its table. Waits for transactions that use the table but holds no lock they or later ones
 * wait for. Interrupted, it is finished by the next call. Throws `unavailable` when a long transaction stands in the way.
 */
export async function detachPartition(client: SqlClient, table: string, name: string): Promise<void> {
  const [state] = await client.query<{ pending: boolean }>(
    'SELECT inhdetachpending AS pending FROM pg_inherits WHERE inhrelid = to_regclass($1)',
    [name],
  );
  if (state === undefined) return;
  await client.query(
    `ALTER TABLE ${table} DETACH PARTITION ${name} ${state.pending ? 'FINALIZE' : 'CONCURRENTLY'}`,
  );
}

/** Drops the detached table in the transaction of `notes`. */
export function dropDetached(
  client: SqlClient,
  name: string,
  notes: (tx: SqlRunner) => Promise<void>,
): Promise<void> {
  return client.transaction(async (tx) => {
    await tx.query(`SET LOCAL lock_timeout = ${DROP_LOCK_TIMEOUT_MS}`);
    await notes(tx);
    await tx.query(`DROP TABLE IF EXISTS ${name}`);
  });
}

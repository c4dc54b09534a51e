// Removes a whole expired month: the partition is detached without blocking writers, then dropped. Used by
// cleanup-step.ts, which notes in between what is being dropped, so that a half-detached partition is found again.

import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { fill, statements } from '../client/statements.ts';
import { limitLockWaits } from '../client/transaction-bounds.ts';
import file from './cleanup-partition.sql';

const SQL = statements(file, 'expired', 'state', 'detach', 'finishDetaching', 'drop');

/** No statement of ours uses a detached table; only a vacuum or a curious reader may still hold it. */
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
  const [row] = await runner.query<{ name: string }>(SQL.expired, [table, firstKept, table]);
  return row?.name ?? null;
}

/**
 * Takes the partition out of its table. Waits for transactions that use the table but holds no lock they or later ones
 * wait for. Interrupted, it is finished by the next call. Throws `unavailable` when a long transaction stands in the way.
 */
export async function detachPartition(client: SqlClient, table: string, name: string): Promise<void> {
  const [state] = await client.query<{ pending: boolean }>(SQL.state, [name]);
  if (state === undefined) return;
  await client.query(fill(state.pending ? SQL.finishDetaching : SQL.detach, { table, partition: name }));
}

/** Drops the detached table in the transaction of `notes`. */
export function dropDetached(
  client: SqlClient,
  name: string,
  notes: (tx: SqlRunner) => Promise<void>,
): Promise<void> {
  return client.transaction(async (tx) => {
    await limitLockWaits(tx, DROP_LOCK_TIMEOUT_MS);
    await notes(tx);
    await tx.query(fill(SQL.drop, { partition: name }));
  });
}

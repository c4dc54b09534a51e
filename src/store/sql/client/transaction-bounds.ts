// Settings of a single transaction, which hold until it ends. Used by migrations, partitions, cleanup, counts and the record
// store.

import type { SqlClient, SqlRunner } from './sql-client.ts';
import { statements } from './statements.ts';
import file from './transaction-bounds.sql';

const sql = statements(file);

/** Limits every statement; a slower one is cancelled. 0: no limit. */
export function limitStatements(tx: SqlRunner, ms: number): Promise<void> {
  return sql.on(tx).run('limitStatements', ms);
}

export function limitLockWaits(tx: SqlRunner, ms: number): Promise<void> {
  return sql.on(tx).run('limitLockWaits', ms);
}

/**
 * For statements that walk a large table in steps, in a transaction: their plan must not depend on the size of the table when the
 * plan was made.
 */
export function walkingIndexes<T>(client: SqlClient, work: (tx: SqlRunner) => Promise<T>): Promise<T> {
  return client.transaction(async (tx) => {
    await sql.on(tx).run('walkIndexes');
    return work(tx);
  });
}

/** Transactions that lock the same key take turns. */
export function lockKey(tx: SqlRunner, key: number): Promise<void> {
  return sql.on(tx).run('lock', key);
}

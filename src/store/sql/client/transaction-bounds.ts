// What a transaction sets for itself; it holds until the transaction ends. Used by migrations, partitions, cleanup, counts and
// the record store.

import type { SqlRunner } from './sql-client.ts';
import { statements } from './statements.ts';
import file from './transaction-bounds.sql';

const sql = statements(file);

/** A statement that takes longer is cancelled; 0: none is. */
export async function limitStatements(tx: SqlRunner, ms: number): Promise<void> {
  await tx.query(sql('limitStatements'), [ms]);
}

export async function limitLockWaits(tx: SqlRunner, ms: number): Promise<void> {
  await tx.query(sql('limitLockWaits'), [ms]);
}

/** For statements that walk a large table in steps: their plan must not depend on how large it was when the plan was made. */
export async function walkIndexes(tx: SqlRunner): Promise<void> {
  await tx.query(sql('walkIndexes'));
}

/** Transactions that lock the same key take turns. */
export async function lockKey(tx: SqlRunner, key: number): Promise<void> {
  await tx.query(sql('lock'), [key]);
}

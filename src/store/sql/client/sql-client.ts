// The SQL database as the record store uses it. Two drivers: pg's pool (postgres/record-store.ts) and PGlite in a worker thread
// (pglite/client.ts). Everything else in this directory is written once, for this interface.
//
// Values are passed as number, string, boolean, null and arrays of them. 64-bit integers arrive as numbers (card ids are below
// 2^53), times as epoch milliseconds, and names in camelCase (rows.ts). Drivers throw CardpollError (sql-errors.ts).

/** A frequent statement: parsed and planned once per connection. */
export interface PreparedSql {
  readonly name: string;
  readonly text: string;
  /** Without an answer for this long the connection counts as broken; absent: the client's limit. */
  readonly answerTimeoutMs?: number | undefined;
}

export type SqlValue = number | string | boolean | null | readonly (number | string | boolean | null)[];

export interface SqlRunner {
  query<Row = Record<string, unknown>>(
    sql: string | PreparedSql,
    params?: readonly SqlValue[],
  ): Promise<Row[]>;
  /** COPY ... FROM STDIN in text format; absent if the driver lacks it. */
  copyIn?: ((sql: string, data: string) => Promise<void>) | undefined;
}

export interface SqlTransaction extends SqlRunner {
  /**
   * Runs a text of several statements without a time limit, on the server and here. The server has none for the rest of the
   * transaction.
   */
  script(text: string): Promise<void>;
}

export interface SqlClient extends SqlRunner {
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const TRANSACTION = ['BEGIN', 'COMMIT', 'ROLLBACK'] as const;
const NESTED = ['SAVEPOINT nested', 'RELEASE SAVEPOINT nested', 'ROLLBACK TO SAVEPOINT nested'] as const;

/** Runs `work` in a transaction on one connection; `isNested`: within a running transaction, as a savepoint. */
export async function inTransaction<T>(
  tx: SqlTransaction,
  work: (tx: SqlTransaction) => Promise<T>,
  isNested = false,
): Promise<T> {
  const [begin, commit, rollback] = isNested ? NESTED : TRANSACTION;
  await tx.query(begin);
  try {
    const result = await work(tx);
    await tx.query(commit);
    return result;
  } catch (error) {
    // If even this fails, the connection is gone, and the transaction with it.
    await tx.query(rollback).catch(() => {});
    throw error;
  }
}

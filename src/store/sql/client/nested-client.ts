// A client whose every statement belongs to a transaction that is under way; transactions within it are savepoints. Used
// by sql-record-store.ts to change several records, or none.
import type { SqlClient, SqlTransaction } from './sql-client.ts';

export function nestedClient(tx: SqlTransaction): SqlClient {
  return {
    query: (sql, params) => tx.query(sql, params),
    transaction: async (work) => {
      await tx.query('SAVEPOINT nested');
      try {
        const result = await work(tx);
        await tx.query('RELEASE SAVEPOINT nested');
        return result;
      } catch (error) {
        // Where even this fails the connection is gone, and with it the transaction.
        await tx.query('ROLLBACK TO SAVEPOINT nested').catch(() => {});
        throw error;
      }
    },
    close: async () => {},
  };
}

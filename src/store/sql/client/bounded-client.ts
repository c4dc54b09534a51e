// A client that uses only so many of another one's connections at a time: what runs over it leaves the rest to others.
// Used by sql-record-store.ts.
import { Bulkhead } from '../../../platform/bulkhead.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type { SqlClient } from './sql-client.ts';

/** As long as the pool itself waits for a connection. */
const WAIT_MS = 5_000;

export function boundedClient(client: SqlClient, connections: number): SqlClient {
  const bulkhead = new Bulkhead({ places: connections, waitMs: WAIT_MS }, busy);
  return {
    query: (sql, params) => bulkhead.run(() => client.query(sql, params)),
    transaction: (work) => bulkhead.run(() => client.transaction(work)),
    close: () => client.close(),
  };
}

function busy(): CardpollError {
  return new CardpollError('unavailable', 'database_busy', 'the database has too many requests to answer', {
    hint: 'try again; database_max_connections bounds how many run at a time, and half of them are kept for polling',
  });
}

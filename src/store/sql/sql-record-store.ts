// The record store over any SqlClient: puts the sub-ports together. Called by postgres/record-store.ts and by
// pglite/record-store.ts.
import { Bulkhead } from '../../platform/bulkhead.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { RecordStore } from '../ports/records/record-store.ts';
import { sqlAlerts } from './alerts/alerts.ts';
import { sqlAudit, sqlMadeChanges } from './audit/audit.ts';
import { sqlCards } from './cards/cards.ts';
import { sqlCleanup } from './cleanup/cleanup.ts';
import type { SqlClient, SqlTransaction } from './client/sql-client.ts';
import { lockKey } from './client/transaction-bounds.ts';
import { fleetOf, identityOf, now, ping, serverOf } from './database.ts';
import { SqlMigrations } from './migrations.ts';
import { sqlResults } from './results/results.ts';
import { sqlConfigs } from './schedule/configs.ts';
import { sqlResumes } from './stops/resumes.ts';
import { sqlStopControl } from './stops/stop-control.ts';
import { sqlStops } from './stops/stops.ts';
import { sqlTriggers } from './triggers/triggers.ts';

/** Under which daemons are connected. */
export const APPLICATION_NAME = 'cardpoll';

/** Held by a transaction of `inTurn`. */
const TURN_LOCK_KEY = 7_220_115_504;

/** As long as the pool itself waits for a connection. */
const PLACE_WAIT_MS = 5_000;

export function sqlRecordStore(kind: RecordStore['kind'], client: SqlClient): RecordStore {
  return {
    kind,
    cards: sqlCards(client),
    results: sqlResults(client),
    stops: sqlStops(client),
    stopControl: sqlStopControl(client),
    resumes: sqlResumes(client),
    configs: sqlConfigs(client),
    alerts: sqlAlerts(client),
    triggers: sqlTriggers(client),
    cleanup: sqlCleanup(client),
    audit: sqlAudit(client),
    madeChanges: sqlMadeChanges(client),
    migrations: new SqlMigrations(client),
    inTurn: (work) =>
      client.transaction(async (tx) => {
        await lockKey(tx, TURN_LOCK_KEY);
        return work(sqlRecordStore(kind, nestedClient(tx)));
      }),
    bounded: (connections) => sqlRecordStore(kind, boundedClient(client, connections)),
    ping: () => ping(client),
    now: () => now(client),
    // An embedded database has one history.
    identity: async () => (kind === 'embedded' ? kind : identityOf(client)),
    fleet: () => fleetOf(client),
    server: () => serverOf(client, APPLICATION_NAME),
    close: () => client.close(),
  };
}

/** A client whose every statement belongs to a transaction that is under way; transactions within it are savepoints. */
function nestedClient(tx: SqlTransaction): SqlClient {
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

/** A client that uses only so many of another one's connections at a time: what runs over it leaves the rest to others. */
function boundedClient(client: SqlClient, connections: number): SqlClient {
  const bulkhead = new Bulkhead({ places: connections, waitMs: PLACE_WAIT_MS }, busy);
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

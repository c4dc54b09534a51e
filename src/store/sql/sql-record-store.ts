// The record store over any SqlClient: assembles the sub-ports, and reads the database's own facts: its clock, its identity, its
// fleet, and the state of its server. Called by the stores in postgres/ and pglite/.

import type { Fleet } from '../../domain/fleet.ts';
import { Bulkhead } from '../../platform/bulkhead.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { LockHolder, RecordStore } from '../ports/records/record-store.ts';
import { sqlAlerts } from './alerts/alerts.ts';
import { sqlAudit, sqlMadeChanges } from './audit/audit.ts';
import { sqlCards } from './cards/cards.ts';
import { sqlCleanup } from './cleanup/cleanup.ts';
import { findLackedRights } from './client/missing-rights.ts';
import { inTransaction, type SqlClient, type SqlTransaction } from './client/sql-client.ts';
import { sqlStateOf } from './client/sql-errors.ts';
import { statements } from './client/statements.ts';
import { lockKey } from './client/transaction-bounds.ts';
import { sqlMigrations } from './migrator.ts';
import { sqlOrders } from './orders/orders.ts';
import { sqlResults } from './results/results.ts';
import { sqlConfigs } from './schedule/configs.ts';
import { sqlMaintenance } from './schedule/maintenance.ts';
import { sqlShift } from './shift/shift.ts';
import file from './sql-record-store.sql';
import { sqlResumes } from './stops/resumes.ts';
import { sqlStoppedWithin } from './stops/stopped-within.ts';
import { sqlStopControl, sqlStops } from './stops/stops.ts';
import { sqlTriggers } from './triggers/triggers.ts';

const sql = statements(file);

/** The application name under which daemons are connected. */
export const APPLICATION_NAME = 'cardpoll';

/** Key of the lock that a transaction of `inTurn` holds. */
const TURN_LOCK_KEY = 7_220_115_504;

/** As long as the pool itself waits for a connection. */
const PLACE_WAIT_MS = 5_000;

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * @param kept a client with connections that statements about cards, results and stops never use; absent: none. While these
 * statements wait, for a lock or on a disk, the kept connections still serve the lead, the alerts and the explanation of the
 * trouble.
 */
export function sqlRecordStore(
  kind: RecordStore['kind'],
  client: SqlClient,
  kept: SqlClient = client,
): RecordStore {
  const db = sql.on(kept);
  return {
    kind,
    cards: sqlCards(client),
    results: sqlResults(client),
    stops: sqlStops(client),
    stopControl: sqlStopControl(client),
    stoppedWithin: sqlStoppedWithin(client),
    resumes: sqlResumes(client),
    orders: sqlOrders(client),
    configs: sqlConfigs(kept),
    maintenance: sqlMaintenance(kept),
    alerts: sqlAlerts(kept),
    triggers: sqlTriggers(client),
    cleanup: sqlCleanup(client),
    audit: sqlAudit(client),
    shift: sqlShift(client),
    madeChanges: sqlMadeChanges(client),
    migrations: sqlMigrations(client),
    inTurn: (work) =>
      client.transaction(async (tx) => {
        await lockKey(tx, TURN_LOCK_KEY);
        return work(sqlRecordStore(kind, nestedClient(tx)));
      }),
    bounded: (connections) =>
      sqlRecordStore(
        kind,
        boundedClient(client, Math.max(Math.min(2, connections), connections - 1)),
        boundedClient(kept, 1),
      ),
    ping: () => db.run('ping'),
    now: async () => Number(await db.scalar('now')),
    // An embedded database never changes its identity.
    identity: async () => (kind === 'embedded' ? kind : readIdentity(kept)),
    fleet: () => readFleet(kept),
    server: () => db.one('server', APPLICATION_NAME),
    lackedRights: () => findLackedRights(kept),
    lockHolders: () => db.rows<LockHolder>('lockHolders', APPLICATION_NAME),
    close: () => client.close(),
  };
}

/** A client whose statements all belong to a running transaction; transactions within it are savepoints. */
function nestedClient(tx: SqlTransaction): SqlClient {
  return {
    query: (sql, params) => tx.query(sql, params),
    transaction: (work) => inTransaction(tx, work, true),
    close: async () => {},
  };
}

/** A client that uses a limited number of another client's connections at a time, and leaves the rest to others. */
export function boundedClient(client: SqlClient, connections: number): SqlClient {
  const bulkhead = new Bulkhead({ places: connections, waitMs: PLACE_WAIT_MS }, busy);
  return {
    query: (sql, params) => bulkhead.run(() => client.query(sql, params)),
    copyIn: client.copyIn && (async (sql, data) => bulkhead.run(async () => client.copyIn?.(sql, data))),
    transaction: (work) => bulkhead.run(() => client.transaction(work)),
    close: () => client.close(),
  };
}

function busy(): CardpollError {
  return new CardpollError('unavailable', 'database_busy', 'the database has too many requests to answer', {
    hint: 'try again; database_max_connections bounds how many run at a time, and half of them are kept for polling',
  });
}

async function readFleet(client: SqlClient): Promise<Fleet> {
  const row = await sql.on(client).first<Fleet>('fleet');
  if (row !== null) return row;
  throw new CardpollError(
    'config',
    'fleet_missing',
    'the table fleet is empty: this database is of no fleet',
    { hint: 'put its row back: docs/upgrading.md, "A copied or restored database"' },
  );
}

/** @returns '' if the role may not query it. */
async function readIdentity(client: SqlClient): Promise<string> {
  try {
    return (await sql.on(client).scalar<string>('identity')) ?? '';
  } catch (error) {
    if (sqlStateOf(error) === INSUFFICIENT_PRIVILEGE) return '';
    throw error;
  }
}

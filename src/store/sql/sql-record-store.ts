// The record store over any SqlClient: puts the sub-ports together. Called by postgres/record-store.ts and by
// pglite/record-store.ts.
import type { RecordStore } from '../ports/records/record-store.ts';
import { SqlAlerts } from './alerts/alerts.ts';
import { SqlAudit } from './audit/audit.ts';
import { SqlMadeChanges } from './audit/made-changes.ts';
import { SqlCards } from './cards/cards.ts';
import { SqlCleanup } from './cleanup/cleanup.ts';
import { boundedClient } from './client/bounded-client.ts';
import { nestedClient } from './client/nested-client.ts';
import type { SqlClient } from './client/sql-client.ts';
import { statements } from './client/statements.ts';
import { lockKey } from './client/transaction-bounds.ts';
import { fleetOf } from './fleet.ts';
import { identityOf } from './identity.ts';
import { SqlMigrations } from './migrations.ts';
import { SqlResults } from './results/results.ts';
import { SqlConfigs } from './schedule/configs.ts';
import file from './sql-record-store.sql';
import { SqlResumes } from './stops/resumes.ts';
import { stopClaims } from './stops/stop-claims.ts';
import { SqlStopControl } from './stops/stop-control.ts';
import { stopList } from './stops/stop-list.ts';
import { stopOrders } from './stops/stop-orders.ts';
import { SqlTriggers } from './triggers/triggers.ts';
import { serverOf } from './vitals.ts';

const SQL = statements(file, 'ping', 'now');

/** Under which daemons are connected. */
export const APPLICATION_NAME = 'cardpoll';

/** Held by a transaction of `inTurn`. */
const TURN_LOCK_KEY = 7_220_115_504;

export function sqlRecordStore(kind: RecordStore['kind'], client: SqlClient): RecordStore {
  return {
    kind,
    cards: new SqlCards(client),
    results: new SqlResults(client),
    stops: { ...stopClaims(client), ...stopOrders(client), ...stopList(client) },
    stopControl: new SqlStopControl(client),
    resumes: new SqlResumes(client),
    configs: new SqlConfigs(client),
    alerts: new SqlAlerts(client),
    triggers: new SqlTriggers(client),
    cleanup: new SqlCleanup(client),
    audit: new SqlAudit(client),
    madeChanges: new SqlMadeChanges(client),
    migrations: new SqlMigrations(client),
    inTurn: (work) =>
      client.transaction(async (tx) => {
        await lockKey(tx, TURN_LOCK_KEY);
        return work(sqlRecordStore(kind, nestedClient(tx)));
      }),
    bounded: (connections) => sqlRecordStore(kind, boundedClient(client, connections)),
    ping: async () => {
      await client.query(SQL.ping);
    },
    now: async () => {
      const [row] = await client.query<{ nowMs: number }>(SQL.now);
      return Number(row?.nowMs);
    },
    // An embedded database has one history.
    identity: async () => (kind === 'embedded' ? kind : identityOf(client)),
    fleet: () => fleetOf(client),
    server: () => serverOf(client, APPLICATION_NAME),
    close: () => client.close(),
  };
}

// The operations of the admin API without its server: over a real database and the live store of this process.
import pg from 'pg';
import { WebhookTester } from '../../src/engine/alerts/webhook-attempt.ts';
import type { FleetHealth } from '../../src/health/fleet-health.ts';
import type { OperationLimits } from '../../src/operations/deps.ts';
import { type Operations, openOperations } from '../../src/operations/operations.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { NO_PROXIES } from '../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../src/platform/ssrf-guard.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { AuditRecord } from '../../src/store/ports/records/audit-records.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../src/store/postgres/record-store.ts';
import { fleetHealth } from './fleet-health.ts';
import { freshDatabase } from './fresh-stores.ts';
import { setLimits } from './limits.ts';
import { TESTER_MEANS } from './message-deps.ts';
import { DEFAULT_STOPS } from './stop-rules.ts';
import { openPacedLiveStore } from './virtual-pace.ts';

export interface OperatedStores {
  readonly databaseUrl: string;
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly health: FleetHealth;
  /** @param manual methods of the manual list that fail or tell otherwise. */
  operations(manual?: Partial<LiveStore['manual']>, limits?: OperationLimits, logDir?: string): Operations;
  /** The newest entry of the audit trail. */
  lastTrace(): Promise<AuditRecord>;
  /** A number no claim had yet. */
  nextClaim(): number;
  sql(text: string): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * @param databaseOf whose database to work on, with an empty live store. Default: an empty one.
 * @param clock of the live store and the operations; the database has its own.
 */
export async function openOperatedStores({
  databaseOf,
  clock = systemClock,
}: {
  databaseOf?: OperatedStores;
  clock?: Clock;
} = {}): Promise<OperatedStores> {
  const url = databaseOf?.databaseUrl ?? (await freshDatabase());
  const records = await openPostgresRecordStore({ url, applicationName: 'cardpoll-test' });
  await records.migrations.up();
  const live = openPacedLiveStore({ clock });
  await setLimits(live.work);
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  const guard = new SsrfGuard([], NO_PROXIES);
  const health = fleetHealth({ live, records }, clock);
  let claims = 0;
  return {
    databaseUrl: url,
    live,
    records,
    health,
    operations: (manual = {}, limits, logDir) =>
      openOperations({
        live: { ...live, manual: Object.assign(Object.create(live.manual), manual) },
        records,
        health,
        clock,
        ...(logDir === undefined ? {} : { logDir }),
        timeZone: 'Asia/Shanghai',
        version: '1.2.3',
        stops: DEFAULT_STOPS,
        offers: () => true,
        guard,
        tester: new WebhookTester({ ...TESTER_MEANS, guard, secrets: [], timeZone: 'UTC', clock }),
        auditLog: { info: () => {} },
        ...(limits === undefined ? {} : { limits }),
      }),
    lastTrace: () => lastTraceOf(records),
    nextClaim() {
      claims += 1;
      return claims;
    },
    sql: (text) => sql.query(text),
    async close() {
      await sql.end();
      await live.close();
      await records.close();
    },
  };
}

export async function lastTraceOf(records: RecordStore): Promise<AuditRecord> {
  const all = { sinceMs: null, untilMs: null, actor: null, action: null, object: null };
  const [newest] = (await records.audit.list(all, { offset: 0, limit: 1 })).items;
  if (newest === undefined) throw new Error('the audit trail is empty');
  return newest;
}

// The composition roots of the commands that need only the stores: `cardpoll init adopt`, which assigns a Redis that another
// fleet used to the fleet of this database, and `cardpoll migrate`. Called by main.ts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AdoptionPlan, MigrateAction, MigrateResult } from './cli/launchers.ts';
import type { AdoptConfig, MigrateConfig } from './config/daemon-config.ts';
import { MonthCalendar } from './domain/cards/month-calendar.ts';
import { fleetText } from './domain/fleet.ts';
import { requireOwnFleet } from './engine/fleet-watch.ts';
import { Audit } from './operations/audit.ts';
import { systemClock } from './platform/clock.ts';
import { CardpollError } from './platform/errors.ts';
import { silentLogger } from './platform/logger.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { MIGRATIONS } from './store/sql/migrator.ts';
import { APPLICATION_NAME } from './store/sql/sql-record-store.ts';
import { openEmbedded, openRedis } from './stores.ts';

/** The actor in the audit trail: anyone who has the passwords of both stores. */
const LOCAL = { name: 'local', role: 'admin', address: null, requestId: null };

/**
 * Assigns the Redis to the fleet of this database. A daemon cannot do it, because the daemons of this fleet refuse to start.
 * @param goAhead confirms the plan, if there is something to do. @returns the plan. Throws the error of `goAhead`.
 */
export async function runAdopt(
  { stores, timeZone }: AdoptConfig,
  goAhead: (plan: AdoptionPlan) => Promise<void>,
): Promise<AdoptionPlan> {
  const records = await openPostgresRecordStore({
    url: stores.databaseUrl,
    applicationName: APPLICATION_NAME,
  });
  try {
    const fleet = await records.fleet();
    const live = await openRedis(stores);
    try {
      const { coordination } = live;
      const holder = await coordination.fleet();
      const plan = { fleet, holder };
      if (holder?.id === fleet.id) return plan;
      const instances = await coordination.instances();
      if (instances.length > 0) {
        throw new CardpollError(
          'busy',
          'fleet_alive',
          `${holder === null ? 'a fleet' : fleetText(holder)} still polls with this Redis (instances alive: ${instances.length})`,
          { hint: 'stop them first; a killed instance is forgotten after ten seconds' },
        );
      }
      await goAhead(plan);
      const audit = new Audit({
        records,
        clock: systemClock,
        calendar: new MonthCalendar(timeZone),
        log: silentLogger(),
      });
      const change = { action: 'fleet.adopt', object: 'redis', before: holder, after: fleet };
      await audit.announce(LOCAL, change, async () => {
        await coordination.forgetFleet();
        await requireOwnFleet(coordination, fleet);
      });
      return plan;
    } finally {
      await live.close();
    }
  } finally {
    await records.close();
  }
}

/** The month in UTC-12, the last zone to leave a month: its partition and the next three serve every time zone. */
function earliestMonth(nowMs: number): string {
  return new MonthCalendar('Etc/GMT+12').monthOf(nowMs);
}

/** Opens only the record store. @returns every migration, and the ids applied now. */
export async function runMigrate(
  config: MigrateConfig,
  action: MigrateAction,
  onBegin: (id: string) => void,
): Promise<MigrateResult> {
  const { database } = config;
  // Opening an embedded database would create it, which a query must not do.
  if (
    action === 'status' &&
    database.kind === 'embedded' &&
    !existsSync(join(database.dataDir, 'PG_VERSION'))
  ) {
    return { applied: [], migrations: MIGRATIONS.map(({ id }) => ({ id, appliedAtMs: null, newer: false })) };
  }
  const records =
    database.kind === 'postgres'
      ? await openPostgresRecordStore({
          url: database.databaseUrl,
          applicationName: APPLICATION_NAME,
          readsOnly: action === 'status',
        })
      : await openEmbedded(database.dataDir);
  try {
    const applied = action === 'up' ? await records.migrations.up(onBegin) : [];
    // For a fleet whose own user may not create partitions (docs/security.md).
    if (action === 'up') await records.results.ensurePartitions(earliestMonth(await records.now()));
    return { applied, migrations: await records.migrations.status() };
  } finally {
    await records.close();
  }
}

// The composition root of `cardpoll init adopt`: gives a Redis that another fleet used to the fleet of this database.
// Called by main.ts. A daemon cannot do it: the daemons of this fleet refuse to start.
import type { AdoptionPlan } from './cli/launchers.ts';
import type { AdoptConfig } from './config/daemon-config.ts';
import { MonthCalendar } from './domain/cards/usage-month.ts';
import { fleetText } from './domain/fleet.ts';
import { requireOwnFleet } from './engine/fleet-watch.ts';
import { Audit } from './operations/audit.ts';
import { systemClock } from './platform/clock.ts';
import { CardpollError } from './platform/errors.ts';
import { silentLogger } from './platform/logger.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { APPLICATION_NAME } from './store/sql/sql-record-store.ts';
import { openRedis } from './stores.ts';

/** The actor in the audit trail: anyone who has the passwords of both stores. */
const LOCAL = { name: 'local', role: 'admin', address: null, requestId: null };

/** @param goAhead confirms the plan, if there is something to do. @returns the plan; null if it was not confirmed */
export async function runAdopt(
  { stores, timeZone }: AdoptConfig,
  goAhead: (plan: AdoptionPlan) => Promise<boolean>,
): Promise<AdoptionPlan | null> {
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
      if (!(await goAhead(plan))) return null;
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

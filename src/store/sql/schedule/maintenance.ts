// Maintenance windows: a handful of rows.
import type { MaintenanceRecords } from '../../ports/records/maintenance-records.ts';
import { jsonOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './maintenance.sql';

const sql = statements(file);

export function sqlMaintenance(client: SqlClient): MaintenanceRecords {
  const db = sql.on(client);
  return {
    open: () => db.rows('open'),
    plan: ({ startsAtMs, endsAtMs, by: plannedBy, ...rest }) =>
      db.one('plan', jsonOf({ ...rest, plannedBy }), startsAtMs, endsAtMs),
    cancel: (id) => db.first('cancel', id),
    async turn() {
      const turned = { begun: await db.rows('begin'), ended: await db.rows('end') };
      await db.run('forget');
      return turned as Awaited<ReturnType<MaintenanceRecords['turn']>>;
    },
  };
}

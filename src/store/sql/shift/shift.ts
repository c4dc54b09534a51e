// The records of a past period: alerts, changes and stops, in bounded reads of other files' tables.
import type {
  AlertsWithin,
  CarrierStops,
  ChangeGroup,
  ChangesWithin,
  ShiftRecords,
} from '../../ports/records/shift-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { walkingIndexes } from '../client/transaction-bounds.ts';
import file from './shift.sql';

const sql = statements(file);

type ChangeRow = Omit<ChangesWithin, 'groups'> & { readonly group: ChangeGroup | null };

export function sqlShift(client: SqlClient): ShiftRecords {
  const db = sql.on(client);
  return {
    async alerts({ fromMs, toMs }, most) {
      const [counts, items] = await Promise.all([
        db.one<Omit<AlertsWithin, 'items'>>('countAlerts', fromMs, toMs),
        db.rows<AlertsWithin['items'][number]>('alerts', fromMs, toMs, most),
      ]);
      return { ...counts, items };
    },

    async changes({ fromMs, toMs }, counted, most) {
      const rows = await db.rows<ChangeRow>('changes', fromMs, toMs, counted, most);
      const { total = 0, countedFromMs = null } = rows[0] ?? {};
      return { total, countedFromMs, groups: rows.flatMap(({ group }) => group ?? []) };
    },

    async stops({ fromMs, toMs }, counted) {
      const rows = await walkingIndexes(client, (tx) =>
        sql.on(tx).rows<CarrierStops & { readonly isCut: boolean }>('stops', fromMs, toMs, counted),
      );
      return {
        carriers: rows.map(({ isCut: _, ...carrier }) => carrier),
        isCut: rows.some(({ isCut }) => isCut),
      };
    },
  };
}

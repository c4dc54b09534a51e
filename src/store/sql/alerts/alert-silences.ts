// Silences of alerts. Whom one is about is decided by alert_is_silenced() of migration 0010, where alerts are read and
// notifications claimed. Those that are over are removed when the next one is made.
import type { Silence } from '../../../domain/alerts/alert-silence.ts';
import type { SilenceRecords } from '../../ports/records/alert-records.ts';
import { firstOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './alert-silences.sql';

const SQL = statements(file, 'list', 'forgetEnded', 'create', 'remove');

export function sqlSilences(client: SqlClient): SilenceRecords {
  return {
    list: () => client.query<Silence>(SQL.list),

    create({ ruleId, ruleType, taskType, reason, by, ends }) {
      const end = ['atMs' in ends ? ends.atMs : null, 'inSeconds' in ends ? ends.inSeconds : null];
      return client.transaction(async (tx) => {
        await tx.query(SQL.forgetEnded);
        const params = [ruleId, ruleType, taskType, reason, by, ...end];
        const [silence] = await tx.query<Silence>(SQL.create, params);
        return silence as Silence;
      });
    },

    remove: (id) => firstOf(client.query<Silence>(SQL.remove, [id])),
  };
}

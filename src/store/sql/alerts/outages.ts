// Outages of the stores in the alert history: alerts without a rule, of which at most one is open (index alert_history_outage).
import type { OutageRecords } from '../../ports/records/alert-records.ts';
import { jsonOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './outages.sql';

const sql = statements(file);

export function sqlOutages(client: SqlClient): OutageRecords {
  const db = sql.on(client);
  return {
    open: ({ cause, beganMsAgo, notices }) =>
      db.first('open', jsonOf(cause), beganMsAgo, notices === null ? null : jsonOf(notices)),
    close: (okMs, leastAgeMs) => db.hasRow('close', okMs, leastAgeMs),
  };
}

// Notifications wait in a table until they are delivered or have failed. The number of the attempt is the fence: a sender that
// was frozen past its lease cannot end the attempt of another.
import type { WebhookOutbox } from '../../ports/records/alert-records.ts';
import { arraysOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './webhook-outbox.sql';

const sql = statements(file);

export function sqlWebhookOutbox(client: SqlClient): WebhookOutbox {
  const db = sql.on(client);
  return {
    claim: ({ limit, limitPerUrl, leaseMs }) => db.rows('claim', limit, limitPerUrl, leaseMs),

    settle: (deliveries, outcome) =>
      db.column(
        'settle',
        ...arraysOf(deliveries, 'id', 'attempt'),
        outcome.status,
        outcome.status === 'delivered' ? null : outcome.error,
        outcome.status === 'pending' ? outcome.retryInMs : null,
        outcome.status === 'pending' && outcome.answered,
      ),

    redeliver: async (alertId) => (await db.rows('redeliver', alertId)).length,
    pending: () => db.count('pending'),
  };
}

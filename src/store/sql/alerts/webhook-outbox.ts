// The webhook outbox: notifications wait in a table until they are delivered or given up. The number of the attempt is
// the fence: a sender that was frozen past its lease cannot end the attempt of another.
import type { Alert, WebhookDelivery, WebhookOutbox } from '../../ports/records/alert-records.ts';
import { firstOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './webhook-outbox.sql';

const SQL = statements(file, 'claim', 'settle', 'redeliver', 'pending');

type DeliveryRow = Omit<WebhookDelivery, 'id' | 'alert'> & { readonly deliveryId: number } & Alert;

export function sqlWebhookOutbox(client: SqlClient): WebhookOutbox {
  return {
    async claim({ limit, limitPerUrl, leaseMs }) {
      const rows = await client.query<DeliveryRow>(SQL.claim, [limit, limitPerUrl, leaseMs]);
      return rows.map(({ deliveryId, attempt, messageId, event, url, groupKey, secrets, ...alert }) => {
        return { id: deliveryId, attempt, messageId, event, url, groupKey, secrets, alert };
      });
    },

    async settle(deliveries, outcome) {
      const rows = await client.query<{ id: number }>(SQL.settle, [
        deliveries.map(({ id }) => id),
        deliveries.map(({ attempt }) => attempt),
        outcome.status,
        outcome.status === 'delivered' ? null : outcome.error,
        outcome.status === 'pending' ? outcome.retryInMs : null,
      ]);
      return rows.map(({ id }) => id);
    },

    redeliver: async (alertId) => (await client.query(SQL.redeliver, [alertId])).length,

    pending: async () => (await firstOf(client.query<{ count: number }>(SQL.pending)))?.count ?? 0,
  };
}

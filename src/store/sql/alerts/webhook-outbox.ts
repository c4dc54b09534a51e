// The webhook outbox: notifications wait in a table until they are delivered or given up. The number of the attempt is
// the fence: a sender that was frozen past its lease cannot end the attempt of another.
import type {
  Alert,
  DeliveryOutcome,
  WebhookDelivery,
  WebhookOutbox,
} from '../../ports/records/alert-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './webhook-outbox.sql';

const SQL = statements(file, 'claim', 'settle', 'redeliver', 'pending');

type DeliveryRow = Omit<WebhookDelivery, 'id' | 'alert'> & { readonly deliveryId: number } & Alert;

export class SqlWebhookOutbox implements WebhookOutbox {
  constructor(private readonly client: SqlClient) {}

  async claim({
    limit,
    limitPerUrl,
    leaseMs,
  }: {
    limit: number;
    limitPerUrl: number;
    leaseMs: number;
  }): Promise<WebhookDelivery[]> {
    const rows = await this.client.query<DeliveryRow>(SQL.claim, [limit, limitPerUrl, leaseMs]);
    return rows.map(({ deliveryId, attempt, messageId, event, url, groupKey, secrets, ...alert }) => {
      return { id: deliveryId, attempt, messageId, event, url, groupKey, secrets, alert };
    });
  }

  async settle(
    deliveries: ReadonlyArray<Pick<WebhookDelivery, 'id' | 'attempt'>>,
    outcome: DeliveryOutcome,
  ): Promise<number[]> {
    const retryInMs = outcome.status === 'pending' ? outcome.retryInMs : null;
    const error = outcome.status === 'delivered' ? null : outcome.error;
    const rows = await this.client.query<{ id: number }>(SQL.settle, [
      deliveries.map(({ id }) => id),
      deliveries.map(({ attempt }) => attempt),
      outcome.status,
      error,
      retryInMs,
    ]);
    return rows.map(({ id }) => id);
  }

  async redeliver(alertId: number): Promise<number> {
    const rows = await this.client.query(SQL.redeliver, [alertId]);
    return rows.length;
  }

  async pending(): Promise<number> {
    const [row] = await this.client.query<{ count: number }>(SQL.pending);
    return row?.count ?? 0;
  }
}

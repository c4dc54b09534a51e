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
    return rows.map(({ deliveryId, attempt, messageId, event, url, secrets, ...alert }) => {
      return { id: deliveryId, attempt, messageId, event, url, secrets, alert };
    });
  }

  async settle(
    { id, attempt }: Pick<WebhookDelivery, 'id' | 'attempt'>,
    outcome: DeliveryOutcome,
  ): Promise<boolean> {
    const retryInMs = outcome.status === 'pending' ? outcome.retryInMs : null;
    const error = outcome.status === 'delivered' ? null : outcome.error;
    const rows = await this.client.query(SQL.settle, [id, attempt, outcome.status, error, retryInMs]);
    return rows.length > 0;
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

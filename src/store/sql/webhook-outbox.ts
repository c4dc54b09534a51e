// The webhook outbox: notifications wait in a table until they are delivered or given up. The number of the attempt is
// the fence: a sender that was frozen past its lease cannot end the attempt of another.
import type { DeliveryOutcome, WebhookDelivery, WebhookOutbox } from '../ports/alert-records.ts';
import { type AlertRow, toAlert } from './alert-row.ts';
import claimWebhooks from './queries/claim-webhooks.sql';
import type { PreparedSql, SqlClient } from './sql-client.ts';

const CLAIM: PreparedSql = { name: 'claim_webhooks', text: claimWebhooks };

interface DeliveryRow extends AlertRow {
  readonly delivery_id: number;
  readonly attempts: number;
  readonly message_id: string;
  readonly event: WebhookDelivery['event'];
  readonly url: string;
  readonly secrets: readonly string[];
}

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
    const rows = await this.client.query<DeliveryRow>(CLAIM, [limit, limitPerUrl, leaseMs]);
    return rows.map((row) => ({
      id: row.delivery_id,
      attempt: row.attempts,
      messageId: row.message_id,
      event: row.event,
      url: row.url,
      secrets: row.secrets,
      alert: toAlert(row),
    }));
  }

  async settle(
    { id, attempt }: Pick<WebhookDelivery, 'id' | 'attempt'>,
    outcome: DeliveryOutcome,
  ): Promise<boolean> {
    const retryInMs = outcome.status === 'pending' ? outcome.retryInMs : null;
    const error = outcome.status === 'delivered' ? null : outcome.error;
    const rows = await this.client.query(
      `UPDATE webhook_outbox SET status = $3, claimed_until = NULL, last_error = coalesce($4, last_error),
         next_attempt_at = clock_timestamp() + coalesce($5::float8, 0) * interval '1 millisecond',
         settled_at = CASE WHEN $3 <> 'pending' THEN clock_timestamp() END
       WHERE id = $1::bigint AND attempts = $2::integer AND status = 'pending' RETURNING id`,
      [id, attempt, outcome.status, error, retryInMs],
    );
    return rows.length > 0;
  }

  async redeliver(alertId: number): Promise<number> {
    const rows = await this.client.query(
      `UPDATE webhook_outbox SET status = 'pending', next_attempt_at = clock_timestamp(), settled_at = NULL
       WHERE alert_id = $1::bigint AND status = 'failed' RETURNING id`,
      [alertId],
    );
    return rows.length;
  }

  async pending(): Promise<number> {
    const [row] = await this.client.query<{ count: number }>(
      `SELECT count(*) AS count FROM webhook_outbox WHERE status = 'pending'`,
    );
    return row?.count ?? 0;
  }
}

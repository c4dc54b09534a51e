// What a webhook receiver gets: the JSON body (03, "webhook") and the headers of Standard Webhooks. Used by
// webhook-sender.ts. The body follows from the durable alert alone, so every attempt sends the same bytes.
import { createHmac } from 'node:crypto';
import type { WebhookDelivery } from '../store/alert-records.ts';

export interface WebhookMessage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const SECRET_PREFIX = 'whsec_';

/**
 * @param secret `whsec_` and base64; null: no signature.
 * @param atMs when this attempt is made; a receiver refuses what is too old.
 */
export function webhookMessage(
  delivery: WebhookDelivery,
  secret: string | null,
  atMs: number,
): WebhookMessage {
  const body = JSON.stringify(bodyOf(delivery));
  const id = `msg_${delivery.messageId}`;
  const timestamp = String(Math.floor(atMs / 1000));
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'cardpoll',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
  };
  if (secret === null) return { body, headers };
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { body, headers: { ...headers, 'webhook-signature': `v1,${signature}` } };
}

function bodyOf({ event, alert }: WebhookDelivery): Record<string, unknown> {
  const common = {
    event,
    id: alert.id,
    rule: {
      id: alert.ruleId,
      name: alert.ruleName,
      rule_type: alert.ruleType,
      task_type: alert.taskType,
      comparison: alert.comparison,
      threshold: alert.threshold,
    },
    value: alert.value,
    fired_at: new Date(alert.firedAtMs).toISOString(),
  };
  if (event === 'alert.fired' || alert.resolvedAtMs === null) return common;
  return {
    ...common,
    resolved_at: new Date(alert.resolvedAtMs).toISOString(),
    resolved_value: alert.resolvedValue,
    resolution: alert.resolution,
  };
}

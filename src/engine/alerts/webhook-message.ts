// What a webhook receiver gets: the JSON body (contract, "Webhooks") and the headers of Standard Webhooks. Used by
// the sender and the tester. The body follows from the alert alone, so every attempt sends the same bytes.
import { createHmac } from 'node:crypto';
import type { NotificationEvent } from '../../domain/alerts/alert-rule.ts';
import { keyOf } from '../../domain/alerts/webhook-secret.ts';
import type { Alert } from '../../store/ports/records/alert-records.ts';

export interface WebhookMessage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a receiver is told. */
interface WebhookNews {
  readonly event: NotificationEvent | 'alert.test';
  /** Stays the same over all attempts. */
  readonly messageId: string;
  readonly alert: Alert;
}

/**
 * @param secrets each signs, so that a receiver may change from one to the next; none: no signature.
 * @param atMs when this attempt is made; a receiver refuses what is too old.
 */
export function webhookMessage(news: WebhookNews, secrets: readonly string[], atMs: number): WebhookMessage {
  const body = JSON.stringify(bodyOf(news));
  const id = `msg_${news.messageId}`;
  const timestamp = String(Math.floor(atMs / 1000));
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'cardpoll',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
  };
  if (secrets.length === 0) return { body, headers };
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`,
  );
  return { body, headers: { ...headers, 'webhook-signature': signatures.join(' ') } };
}

function bodyOf({ event, alert }: WebhookNews): Record<string, unknown> {
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
  if (event !== 'alert.resolved' || alert.resolvedAtMs === null) return common;
  return {
    ...common,
    resolved_at: new Date(alert.resolvedAtMs).toISOString(),
    resolved_value: alert.resolvedValue,
    resolution: alert.resolution,
  };
}

// Builds a webhook message: the JSON body (contract, "Webhooks") and the headers of Standard Webhooks. Used by
// webhook-sender.ts and webhook-tester.ts. The body depends on the alert alone, so every attempt sends the same bytes.
import { createHmac } from 'node:crypto';
import type { NotificationEvent } from '../../domain/alerts/alert-rule.ts';
import { keyOf } from '../../domain/alerts/webhook.ts';
import type { Alert } from '../../store/ports/records/alert-records.ts';

export interface WebhookMessage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface WebhookEvent {
  readonly event: NotificationEvent | 'alert.test';
  /** The same in all attempts. */
  readonly messageId: string;
  /** The first of a group, or the only one. */
  readonly alert: Alert;
  /** All alerts of a group; null for a message about one alert. */
  readonly group: readonly Alert[] | null;
}

/**
 * @param secrets every secret adds a signature, so that a receiver can rotate them; if empty, there is no signature.
 * @param atMs when this attempt is made, epoch milliseconds; receivers refuse messages that are too old.
 */
export function webhookMessage(
  event: WebhookEvent,
  secrets: readonly string[],
  atMs: number,
): WebhookMessage {
  const body = JSON.stringify(bodyOf(event));
  const id = `msg_${event.messageId}`;
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

/** A receiver that knows no groups reads the first alert. */
function bodyOf({ event, alert, group }: WebhookEvent): Record<string, unknown> {
  const alerts = group === null ? {} : { alerts: group.map((each) => fieldsOf(event, each)) };
  return { event, ...fieldsOf(event, alert), ...alerts };
}

function fieldsOf(event: WebhookEvent['event'], alert: Alert): Record<string, unknown> {
  const common = {
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

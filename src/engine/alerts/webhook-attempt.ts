// A webhook's message, and one attempt to deliver it. The message is the JSON body (contract, "Webhooks") and the headers of
// Standard Webhooks; the body depends on the alert alone, so every attempt sends the same bytes. An attempt is a POST on a
// connection of its own to an address that the guard permits, with a deadline, and its result in words. Used by
// webhook-sender.ts, which decides about retries, and by the operations, which test the webhook of a rule with an attempt. It
// follows no redirect, reads only the status of the answer, and ends with its signal whatever the receiver does. It uses Node's
// own client: undici would keep connections open, and the guard would not check a kept connection again.
import { createHmac, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AlertRule, NotificationEvent } from '../../domain/alerts/alert-rule.ts';
import { keyOf } from '../../domain/alerts/webhook.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import type { Alert } from '../../store/ports/records/alert-records.ts';

/** For name look-up, connection, request and answer together. */
const CALL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_HEAD_BYTES = 16 * 1024;
const GONE = 410;

interface WebhookMessage {
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

interface AttemptResult {
  /** HTTP status of the answer; null without an answer. */
  readonly status: number | null;
  /** Why the webhook was not delivered; null after a 2xx answer. */
  readonly error: string | null;
  /** True when a retry would fail in the same way. */
  readonly lasting: boolean;
}

/** @param stopped aborts the attempt. */
export async function attemptWebhook(
  url: string,
  message: WebhookMessage,
  guard: SsrfGuard,
  stopped: AbortSignal,
): Promise<AttemptResult> {
  const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
  try {
    const status = await callWebhook(url, message, guard, AbortSignal.any([stopped, deadline]));
    if (status >= 200 && status < 300) return { status, error: null, lasting: false };
    if (status === GONE) return { status, error: 'answered 410: the receiver is gone', lasting: true };
    return { status, error: `answered ${status}`, lasting: false };
  } catch (error) {
    if (stopped.aborted) return { status: null, error: 'cardpoll was stopped', lasting: false };
    // The guard does not permit this address, now or later.
    if (error instanceof CardpollError) return { status: null, error: error.message, lasting: true };
    const reason = deadline.aborted ? `no answer within ${CALL_TIMEOUT_MS} ms` : messageOf(error);
    return { status: null, error: reason, lasting: false };
  }
}

/**
 * @returns the status of the answer.
 * @throws CardpollError `invalid` for a URL or address that must not be called; AbortError; the socket's error.
 */
export async function callWebhook(
  url: string,
  { body, headers }: WebhookMessage,
  guard: SsrfGuard,
  signal: AbortSignal,
): Promise<number> {
  const refusal = guard.refusalOf(url);
  if (refusal !== null) throw new CardpollError('invalid', 'address_forbidden', refusal);
  const target = new URL(url);
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      headers,
      agent: false,
      lookup: guard.lookup,
      maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
      signal,
    });
    call.on('error', reject);
    call.on('response', (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    });
    // Status 101 switches protocols. Without this listener the connection is closed without an answer or an error.
    call.on('upgrade', (answer, socket) => {
      resolve(answer.statusCode ?? 0);
      socket.destroy();
    });
    // Every other end of the connection before an answer.
    call.on('close', () => reject(new Error('the connection was closed without an answer')));
    call.end(body);
  });
}

/** Sends the webhook of a rule once, now. Writes neither to the outbox nor to the history. */
export class WebhookTester {
  constructor(
    private readonly deps: {
      readonly guard: SsrfGuard;
      /** Signing keys for rules without their own, newest first. */
      readonly secrets: readonly string[];
      readonly clock: Clock;
    },
  ) {}

  /** Sends the message of an alert at the rule's threshold. Takes up to ten seconds, like any attempt. */
  async test(rule: AlertRule, url: string) {
    const { guard, secrets, clock } = this.deps;
    const { id: ruleId, name: ruleName, ruleType, taskType, comparison, threshold } = rule;
    const firedAtMs = clock.now();
    const message = webhookMessage(
      {
        event: 'alert.test',
        messageId: randomUUID(),
        group: null,
        alert: {
          ...{ id: 0, ruleId, ruleName, ruleType, taskType, comparison, threshold, value: threshold },
          ...{ firedAtMs, resolvedAtMs: null, resolution: null, resolvedValue: null },
        },
      },
      rule.webhookSecrets.length > 0 ? rule.webhookSecrets : secrets,
      firedAtMs,
    );
    const startedMs = clock.monotonic();
    const { status, error } = await attemptWebhook(url, message, guard, new AbortController().signal);
    const durationMs = Math.round(clock.monotonic() - startedMs);
    return { delivered: error === null, status, error, durationMs };
  }
}

// A webhook's message: the JSON body (contract, "Webhooks") with the headers of Standard Webhooks, or the form of a receiver's
// template (receiver-message.ts). The body depends on the alert alone, so every attempt sends the same bytes, except signatures
// in it. Used by webhook-sender.ts and webhook-attempt.ts.
import { createHmac, randomUUID } from 'node:crypto';
import {
  type Alert,
  type MessageEvent,
  messageParts,
  messageText,
  type Surroundings,
} from '../../domain/alerts/alert-text.ts';
import {
  type Acceptance,
  type ReceiverRequest,
  type Receivers,
  receiverNamed,
  STANDARD,
  webhookFormatOf,
} from '../../domain/alerts/receiver.ts';
import { keyOf } from '../../domain/alerts/webhook.ts';
import { type Fleet, fleetText } from '../../domain/fleet.ts';
import { type MessageValues, receiverMessage } from './receiver-message.ts';

export interface WebhookMessage {
  readonly method: ReceiverRequest['method'];
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Which answers mean that the message was accepted; null: any form of answer. */
  readonly accept: Acceptance | null;
  /** Secrets that no log, error or answer may show. */
  readonly secrets: readonly string[];
  /** Why the message cannot be sent; null: it can. */
  readonly problem: string | null;
}

interface WebhookEvent {
  readonly event: MessageEvent;
  /** The same in all attempts. */
  readonly messageId: string;
  /** The first of a group, or the only one. */
  readonly alert: Alert;
  /** All alerts of a group; null for a message about one alert. */
  readonly group: readonly Alert[] | null;
}

/** Address and form of a message. */
interface Destination {
  readonly url: string;
  /** Name of a receiver template; null: chosen by the host of the URL. */
  readonly format: string | null;
  /** Secrets of the rule. Each adds a signature, so that a receiver can rotate them. */
  readonly secrets: readonly string[];
}

/** Settings that all messages need. */
export interface MessageDeps {
  /** Signing keys for rules without their own, newest first; if empty, their webhooks are not signed. */
  readonly secrets: readonly string[];
  /** IANA time zone of the times in a text. */
  readonly timeZone: string;
  readonly fleet: Fleet;
  /** URL of the runbook; an anchor is appended. */
  readonly runbookUrl: string;
  readonly receivers: Receivers;
}

/** Fields that the heartbeat and standard messages share. */
const PLAIN = { method: 'POST', accept: null, secrets: [], problem: null } as const;

/** @param atMs time of this attempt, epoch milliseconds; receivers refuse messages that are too old. */
export function webhookMessage(
  event: WebhookEvent,
  { url, format: chosen, secrets }: Destination,
  means: MessageDeps,
  atMs: number,
): WebhookMessage {
  const format = webhookFormatOf(chosen, url, means.receivers);
  if (format === STANDARD) {
    const signing = secrets.length > 0 ? secrets : means.secrets;
    return { ...PLAIN, url, ...standardMessage(event, { ...means, secrets: signing }, atMs) };
  }
  const receiver = receiverNamed(format, means.receivers);
  if (receiver === undefined)
    return { ...PLAIN, url, body: '', headers: {}, problem: `no receiver ${format} is configured here` };
  const values = valuesOf(event, surroundingsOf(means));
  return { accept: receiver.accept, ...receiverMessage(receiver, { url, secrets }, values, atMs) };
}

function valuesOf({ event, alert, group, messageId }: WebhookEvent, by: Surroundings): MessageValues {
  const {
    text: summary,
    severity,
    command,
    runbookUrl: runbook_url,
    dedupKey: dedup_key,
  } = messageParts(event, alert, by);
  const at = event === 'alert.resolved' ? (alert.resolvedAtMs ?? alert.firedAtMs) : alert.firedAtMs;
  return {
    ...{ text: messageText(event, group ?? [alert], by), summary, severity, command, runbook_url, dedup_key },
    status: STATUS[event],
    ...{
      rule: alert.ruleName,
      rule_type: alert.ruleType,
      task_type: alert.taskType,
      fleet: fleetText(by.fleet),
    },
    ...{ value: `${alert.value}`, threshold: `${alert.threshold}`, message_id: messageId },
    at: new Date(at).toISOString(),
  };
}

/** A changed cause updates the incident that the alert opened: receivers join both by the dedup key. */
const STATUS = {
  ...({ 'alert.fired': 'fired', 'alert.changed': 'fired' } as const),
  ...({ 'alert.resolved': 'resolved', 'alert.test': 'test' } as const),
};

function commonHeaders(body: string) {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'cardpoll',
  };
}

function surroundingsOf({
  fleet,
  runbookUrl,
  timeZone,
}: Omit<MessageDeps, 'secrets' | 'receivers'>): Surroundings {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return { fleet, runbookUrl, timeOf: (atMs) => `${format.format(atMs)} ${timeZone}` };
}

function standardMessage(
  event: WebhookEvent,
  { secrets, ...means }: Omit<MessageDeps, 'receivers'>,
  atMs: number,
): Pick<WebhookMessage, 'body' | 'headers'> {
  return signed(event.messageId, bodyOf(event, surroundingsOf(means)), secrets, atMs);
}

/** The heartbeat: its absence makes the receiver page someone. */
export function heartbeatMessage(
  { url, intervalMs }: { readonly url: string; readonly intervalMs: number },
  { secrets, fleet, runbookUrl }: Omit<MessageDeps, 'timeZone' | 'receivers'>,
  atMs: number,
): WebhookMessage {
  const intervalSeconds = intervalMs / 1000;
  const body = {
    event: 'heartbeat',
    sent_at: new Date(atMs).toISOString(),
    interval_seconds: intervalSeconds,
    text: `cards are polled as configured; look at the fleet when this message has not come for much longer than ${intervalSeconds} s`,
    severity: 'info',
    fleet: fleetText(fleet),
    command: 'cardpoll doctor',
    runbook_url: `${runbookUrl}#heartbeat`,
    dedup_key: `${fleet.id}/heartbeat`,
  };
  return { ...PLAIN, url, ...signed(randomUUID(), body, secrets, atMs) };
}

function signed(
  messageId: string,
  fields: Readonly<Record<string, unknown>>,
  secrets: readonly string[],
  atMs: number,
): Pick<WebhookMessage, 'body' | 'headers'> {
  const body = JSON.stringify(fields);
  const id = `msg_${messageId}`;
  const timestamp = String(Math.floor(atMs / 1000));
  const headers = { ...commonHeaders(body), 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secrets.length === 0) return { body, headers };
  const signatures = secrets.map(
    (secret) =>
      `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return { body, headers: { ...headers, 'webhook-signature': signatures.join(' ') } };
}

/** A receiver that does not know groups reads the first alert. */
function bodyOf({ event, alert, group }: WebhookEvent, by: Surroundings): Record<string, unknown> {
  const fields = (each: Alert) => ({ ...fieldsOf(event, each), ...partsOf(event, each, by) });
  const alerts = group === null ? {} : { alerts: group.map(fields) };
  return { event, ...fields(alert), ...alerts };
}

function partsOf(event: MessageEvent, alert: Alert, by: Surroundings): Record<string, unknown> {
  const { text, severity, command, runbookUrl, dedupKey } = messageParts(event, alert, by);
  const fleet = fleetText(by.fleet);
  return { text, severity, fleet, command, runbook_url: runbookUrl, dedup_key: dedupKey };
}

function fieldsOf(event: MessageEvent, alert: Alert): Record<string, unknown> {
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

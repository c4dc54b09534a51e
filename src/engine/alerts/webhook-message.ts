// A webhook's message: the JSON body (contract, "Webhooks") and the headers of Standard Webhooks, or what the robot of a chat takes
// (robot-message.ts). The body depends on the alert alone, so every attempt sends the same bytes, but for the signature of a robot.
// Used by webhook-sender.ts and webhook-attempt.ts.
import { createHmac, randomUUID } from 'node:crypto';
import {
  type Alert,
  messageText,
  type Surroundings,
  type ToldEvent,
  told,
} from '../../domain/alerts/alert-text.ts';
import { keyOf } from '../../domain/alerts/webhook.ts';
import { type WebhookFormat, webhookFormatOf } from '../../domain/alerts/webhook-format.ts';
import { type Fleet, fleetText } from '../../domain/fleet.ts';
import { robotRequest } from './robot-message.ts';

export interface WebhookMessage {
  readonly url: string;
  readonly format: WebhookFormat;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface WebhookEvent {
  readonly event: ToldEvent;
  /** The same in all attempts. */
  readonly messageId: string;
  /** The first of a group, or the only one. */
  readonly alert: Alert;
  /** All alerts of a group; null for a message about one alert. */
  readonly group: readonly Alert[] | null;
}

/** Where a message goes, and in which form. */
interface Destination {
  readonly url: string;
  /** null: by the host of the URL. */
  readonly format: WebhookFormat | null;
  /** Of the rule. Every one adds a signature, so that a receiver can rotate them. */
  readonly secrets: readonly string[];
}

/** What all messages need. */
export interface MessageMeans {
  /** Signing keys for rules without their own, newest first; if empty, their webhooks are not signed. */
  readonly secrets: readonly string[];
  /** IANA time zone of the times in a text. */
  readonly timeZone: string;
  readonly fleet: Fleet;
  /** Page of the runbook; an anchor is added. */
  readonly runbookUrl: string;
}

/** @param atMs when this attempt is made, epoch milliseconds; receivers refuse messages that are too old. */
export function webhookMessage(
  event: WebhookEvent,
  { url, format: chosen, secrets }: Destination,
  means: MessageMeans,
  atMs: number,
): WebhookMessage {
  const format = webhookFormatOf(chosen, url);
  if (format === 'standard') {
    const signing = secrets.length > 0 ? secrets : means.secrets;
    return { url, format, ...standardMessage(event, { ...means, secrets: signing }, atMs) };
  }
  const robot = robotRequest(
    format,
    url,
    messageText(event.event, event.group ?? [event.alert], surroundingsOf(means)),
    secrets[0] ?? null,
    atMs,
  );
  return { format, ...robot, headers: commonHeaders(robot.body) };
}

function commonHeaders(body: string) {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'cardpoll',
  };
}

function surroundingsOf({ fleet, runbookUrl, timeZone }: Omit<MessageMeans, 'secrets'>): Surroundings {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return { fleet, runbookUrl, timeOf: (atMs) => `${format.format(atMs)} ${timeZone}` };
}

function standardMessage(
  event: WebhookEvent,
  { secrets, ...means }: MessageMeans,
  atMs: number,
): Pick<WebhookMessage, 'body' | 'headers'> {
  return signed(event.messageId, bodyOf(event, surroundingsOf(means)), secrets, atMs);
}

/** A message that says that the fleet works, to those who are woken when it does not come. */
export function heartbeatMessage(
  { url, intervalMs }: { readonly url: string; readonly intervalMs: number },
  { secrets, fleet, runbookUrl }: Omit<MessageMeans, 'timeZone'>,
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
  return { url, format: 'standard', ...signed(randomUUID(), body, secrets, atMs) };
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

/** A receiver that knows no groups reads the first alert. */
function bodyOf({ event, alert, group }: WebhookEvent, by: Surroundings): Record<string, unknown> {
  const fields = (each: Alert) => ({ ...fieldsOf(event, each), ...toldOf(event, each, by) });
  const alerts = group === null ? {} : { alerts: group.map(fields) };
  return { event, ...fields(alert), ...alerts };
}

function toldOf(event: ToldEvent, alert: Alert, by: Surroundings): Record<string, unknown> {
  const { text, severity, command, runbookUrl, dedupKey } = told(event, alert, by);
  const fleet = fleetText(by.fleet);
  return { text, severity, fleet, command, runbook_url: runbookUrl, dedup_key: dedupKey };
}

function fieldsOf(event: ToldEvent, alert: Alert): Record<string, unknown> {
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

// Settings about alerts and the webhooks they call. Part of the settings table (settings.ts).
import { WEBHOOK_SECRET_FORM, webhookSecretsIn } from '../../domain/alerts/webhook.ts';
import type { AddressRange } from '../../platform/addresses.ts';
import { ADDRESS_RANGE, duration, type Kind, listOf, refuse, text, url } from '../kinds.ts';
import { optional, section, withDefault } from './setting.ts';

const WEB = url('http', 'https');

/** As it is given: to a receiver a slash at the end may matter. Never quoted in messages: it is often a secret. */
const HEARTBEAT_URL: Kind<string> = {
  accepts: WEB.accepts,
  parse: (raw) => {
    const { username, password } = new URL(WEB.parse(raw));
    return username + password === '' ? String(raw).trim() : refuse('must not contain credentials');
  },
};

export const ALERTS = section('alerts.', 'ALERTS_', {
  intervalMs: withDefault({
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 5_000,
    doc: 'Pause between two evaluations of the alert rules.',
  }),
  runbookUrl: withDefault({
    kind: text('URL'),
    default: 'docs/runbook.md',
    doc: 'Page of the runbook in messages; the section is added as an anchor. Default: the file of the release.',
  }),
  heartbeatUrl: optional({
    secret: 'part',
    kind: HEARTBEAT_URL,
    doc: 'Where the leader sends a message while cards are polled as configured; its absence wakes somebody.',
  }),
  heartbeatIntervalMs: withDefault({
    kind: duration('ms', { min: 1_000, max: 86_400_000 }),
    default: 60_000,
    doc: 'Pause between two messages to alerts.heartbeat_url.',
  }),
});

/** Signing secrets: one, or two separated by a comma, the newest first. Never quoted in messages. */
const WEBHOOK_SECRETS: Kind<readonly string[]> = {
  accepts: WEBHOOK_SECRET_FORM,
  parse: (raw) => webhookSecretsIn(String(raw).trim()) ?? refuse(`must be ${WEBHOOK_SECRET_FORM}`),
};

export const WEBHOOKS = section('webhooks.', 'WEBHOOKS_', {
  allowCidrs: withDefault<readonly AddressRange[]>({
    kind: listOf(ADDRESS_RANGE),
    default: [],
    doc: 'Address ranges that webhooks may call even though they are not public.',
  }),
  secrets: withDefault<readonly string[]>({
    name: 'secret',
    secret: 'whole',
    kind: WEBHOOK_SECRETS,
    default: [],
    doc: 'Default webhook signing key (Standard Webhooks), for rules without their own; give two during rotation.',
  }),
});

// Settings about alerts and the webhooks they call. Part of the settings table (settings.ts).
import { RECEIVER_NAME, STANDARD } from '../../domain/alerts/receiver.ts';
import { WEBHOOK_SECRET_FORM, webhookSecretsIn } from '../../domain/alerts/webhook.ts';
import type { AddressRange } from '../../platform/addresses.ts';
import { isObject } from '../../platform/json.ts';
import { ADDRESS_RANGE, all, duration, type Kind, listOf, refuse, shown, text, url } from '../kinds.ts';
import { optional, section, withDefault } from './setting.ts';

const WEB = url('http', 'https');

/** Unchanged, because a trailing slash may matter to the receiver. Never quoted in messages: it is often a secret. */
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

type GivenReceivers = Readonly<Record<string, string | Readonly<Record<string, unknown>>>>;

/** The templates are checked where they are read (config/receivers). */
const RECEIVERS: Kind<GivenReceivers> = {
  accepts: 'names (a to z, 0 to 9), and for each a shipped receiver, a file or a template',
  parse: (raw) => {
    if (!isObject(raw)) refuse(`${shown(raw)} must hold names and receivers`);
    all(
      ...Object.entries(raw).map(([name, given]) => () => {
        if (!RECEIVER_NAME.test(name) || name === STANDARD)
          refuse(`${shown(name)} is no name of 1 to 40 letters (a to z) and digits, other than ${STANDARD}`);
        if (typeof given !== 'string' && !isObject(given)) refuse(`${name}: ${shown(given)} is no receiver`);
      }),
    );
    return raw as GivenReceivers;
  },
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
  receivers: optional<GivenReceivers>({
    env: null,
    kind: RECEIVERS,
    doc: 'Receivers of alerts by name, for webhook_template of rules, besides the shipped ones (docs/alerts.md).',
  }),
});

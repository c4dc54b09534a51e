// Settings about alerts and the webhooks they call. Part of the settings table (settings.ts).
import { WEBHOOK_SECRET_FORM, webhookSecretsIn } from '../../domain/alerts/webhook.ts';
import type { AddressRange } from '../../platform/ssrf-guard.ts';
import { ADDRESS_RANGE, bad, duration, good, type Kind, listOf } from '../kinds.ts';
import { withDefault } from './setting.ts';

export const ALERTS = {
  intervalMs: withDefault({
    env: 'CARDPOLL_ALERTS_INTERVAL_MS',
    yaml: 'alerts.interval_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 5_000,
    doc: 'Pause between two evaluations of the alert rules.',
  }),
} as const;

/** Signing secrets: one, or two separated by a comma, the newest first. Never quoted in messages. */
const WEBHOOK_SECRETS: Kind<readonly string[]> = {
  accepts: WEBHOOK_SECRET_FORM,
  parse: (raw) => {
    const value = webhookSecretsIn(String(raw).trim());
    return value === null ? bad(`must be ${WEBHOOK_SECRET_FORM}`) : good(value);
  },
};

export const WEBHOOKS = {
  allowCidrs: withDefault<readonly AddressRange[]>({
    env: 'CARDPOLL_WEBHOOKS_ALLOW_CIDRS',
    yaml: 'webhooks.allow_cidrs',
    kind: listOf(ADDRESS_RANGE),
    default: [],
    doc: 'Address ranges that webhooks may call even though they are not public.',
  }),
  secrets: withDefault<readonly string[]>({
    env: 'CARDPOLL_WEBHOOKS_SECRET',
    file: { flag: null, env: 'CARDPOLL_WEBHOOKS_SECRET_FILE', credential: 'webhooks.secret' },
    kind: WEBHOOK_SECRETS,
    default: [],
    doc: 'Default webhook signing key (Standard Webhooks), for rules without their own; give two during rotation.',
  }),
} as const;

// Settings of the HTTP server: whom it lets in, how much it bears, how long it waits. Part of the settings table
// (settings.ts).
import type { AdminToken } from '../../domain/admin-token.ts';
import type { AddressRange } from '../../platform/ssrf-guard.ts';
import { adminTokens } from '../admin-tokens.ts';
import { duration, integer, listOf, text } from '../kinds.ts';
import { addressRange } from '../webhook-kinds.ts';
import { optional, withDefault } from './setting.ts';

const daemon = ['daemon'] as const;

/** May change while the daemon runs. */
export const ACCESS = {
  /** Empty: the API is open, and only on a loopback address. */
  adminTokens: withDefault<readonly AdminToken[]>({
    env: 'CARDPOLL_ADMIN_TOKENS',
    file: { flag: null, env: 'CARDPOLL_ADMIN_TOKENS_FILE', credential: 'admin_tokens' },
    kind: adminTokens(),
    default: [],
    defaultText: 'none',
    doc: 'Who may use the admin API: [name:]role:token entries, roles viewer, operator and admin.',
    scopes: daemon,
  }),
  rateLimitPerMinute: withDefault({
    env: 'CARDPOLL_API_RATE_LIMIT_PER_MINUTE',
    yaml: 'api.rate_limit_per_minute',
    kind: integer({ min: 0, max: 10_000_000 }),
    default: 12_000,
    doc: 'Requests a minute that each token, or without tokens each address, may send to one instance; 0: any number.',
    scopes: daemon,
  }),
  refusalLimitPerMinute: withDefault({
    env: 'CARDPOLL_API_REFUSAL_LIMIT_PER_MINUTE',
    yaml: 'api.refusal_limit_per_minute',
    kind: integer({ min: 0, max: 10_000_000 }),
    default: 300,
    doc: 'Requests without a valid token or to paths that do not exist that each address may send a minute; 0: any number.',
    scopes: daemon,
  }),
} as const;

/** Files, which tls-files.ts reads. */
export const TLS = {
  cert: optional({
    flag: '--tls-cert',
    env: 'CARDPOLL_TLS_CERT',
    yaml: 'api.tls_cert',
    kind: text('path'),
    defaultText: 'none: plain HTTP',
    doc: 'PEM file with the certificate, and its chain, for HTTPS. Needs the key too; SIGHUP reads both again.',
    scopes: daemon,
  }),
  key: optional({
    flag: '--tls-key',
    env: 'CARDPOLL_TLS_KEY',
    yaml: 'api.tls_key',
    kind: text('path'),
    defaultText: 'none: plain HTTP',
    doc: 'PEM file with the private key of the certificate, which not everybody may read.',
    scopes: daemon,
  }),
} as const;

export const API = {
  trustedProxies: withDefault<readonly AddressRange[]>({
    env: 'CARDPOLL_API_TRUSTED_PROXIES',
    yaml: 'api.trusted_proxies',
    kind: listOf(addressRange()),
    default: [],
    defaultText: 'none',
    doc: 'Addresses of reverse proxies whose X-Forwarded-For is believed. Needs admin tokens.',
    scopes: daemon,
  }),
  maxConnections: withDefault({
    env: 'CARDPOLL_API_MAX_CONNECTIONS',
    yaml: 'api.max_connections',
    kind: integer({ min: 10, max: 1_000_000 }),
    default: 5_000,
    doc: 'Most connections to the API at a time; further ones are closed at once.',
    scopes: daemon,
  }),
  headerTimeoutMs: withDefault({
    env: 'CARDPOLL_API_HEADER_TIMEOUT_MS',
    yaml: 'api.header_timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 10_000,
    doc: 'How long the head of a request may take to arrive, from the connection on.',
    scopes: daemon,
  }),
  bodyTimeoutMs: withDefault({
    env: 'CARDPOLL_API_BODY_TIMEOUT_MS',
    yaml: 'api.body_timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 30_000,
    doc: 'How long the body of a request may take to arrive; of an import, how long a KiB may take.',
    scopes: daemon,
  }),
  idleTimeoutMs: withDefault({
    env: 'CARDPOLL_API_IDLE_TIMEOUT_MS',
    yaml: 'api.idle_timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 72_000,
    doc: 'How long a connection may wait for its next request; longer than a load balancer keeps it.',
    scopes: daemon,
  }),
  drainDelayMs: withDefault({
    env: 'CARDPOLL_API_DRAIN_DELAY_MS',
    yaml: 'api.drain_delay_ms',
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 0,
    doc: 'How long a stopping daemon still takes connections while /readyz says 503, for a load balancer to see it.',
    scopes: daemon,
  }),
  maxOpenTriggers: withDefault({
    env: 'CARDPOLL_API_MAX_OPEN_TRIGGERS',
    yaml: 'api.max_open_triggers',
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 10_000,
    doc: 'Manual triggers that may be open at a time; a further one is refused.',
    scopes: daemon,
  }),
  maxAlertRules: withDefault({
    env: 'CARDPOLL_API_MAX_ALERT_RULES',
    yaml: 'api.max_alert_rules',
    kind: integer({ min: 1, max: 100_000 }),
    default: 1_000,
    doc: 'Alert rules there may be; a further one is refused.',
    scopes: daemon,
  }),
} as const;

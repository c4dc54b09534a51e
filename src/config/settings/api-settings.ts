// Settings of the HTTP server: access, limits and timeouts. Part of the settings table (settings.ts).
import type { AdminToken } from '../../domain/admin-token.ts';
import type { AddressRange } from '../../platform/ssrf-guard.ts';
import { ADMIN_TOKENS } from '../admin-tokens.ts';
import { ADDRESS_RANGE, duration, integer, listOf, text } from '../kinds.ts';
import { optional, withDefault } from './setting.ts';

/** May change while the daemon runs. */
export const ACCESS = {
  /** Empty: the API is open, and only on a loopback address. */
  adminTokens: withDefault<readonly AdminToken[]>({
    env: 'CARDPOLL_ADMIN_TOKENS',
    file: { flag: null, env: 'CARDPOLL_ADMIN_TOKENS_FILE', credential: 'admin_tokens' },
    kind: ADMIN_TOKENS,
    default: [],
    doc: 'Who may use the admin API: [name:]role:token entries, roles viewer, operator and admin.',
  }),
  rateLimitPerMinute: withDefault({
    env: 'CARDPOLL_API_RATE_LIMIT_PER_MINUTE',
    yaml: 'api.rate_limit_per_minute',
    kind: integer({ min: 0, max: 10_000_000 }),
    default: 12_000,
    doc: 'Requests per minute that each token (without tokens, each address) may send to one instance; 0: no limit.',
  }),
  refusalLimitPerMinute: withDefault({
    env: 'CARDPOLL_API_REFUSAL_LIMIT_PER_MINUTE',
    yaml: 'api.refusal_limit_per_minute',
    kind: integer({ min: 0, max: 10_000_000 }),
    default: 300,
    doc: 'Refused requests per minute that each address may send: without a valid token, or to unknown paths; 0: no limit.',
  }),
} as const;

/** Paths of files that tls-files.ts reads. */
export const TLS = {
  cert: optional({
    flag: '--tls-cert',
    env: 'CARDPOLL_TLS_CERT',
    yaml: 'api.tls_cert',
    kind: text('path'),
    defaultText: 'none: plain HTTP',
    doc: 'PEM file with the HTTPS certificate and its chain. Needs the key too; SIGHUP reloads both.',
  }),
  key: optional({
    flag: '--tls-key',
    env: 'CARDPOLL_TLS_KEY',
    yaml: 'api.tls_key',
    kind: text('path'),
    defaultText: 'none: plain HTTP',
    doc: 'PEM file with the private key; must not be world-readable.',
  }),
} as const;

export const API = {
  trustedProxies: withDefault<readonly AddressRange[]>({
    env: 'CARDPOLL_API_TRUSTED_PROXIES',
    yaml: 'api.trusted_proxies',
    kind: listOf(ADDRESS_RANGE),
    default: [],
    doc: 'Addresses of reverse proxies whose X-Forwarded-For is trusted. Needs admin tokens.',
  }),
  maxConnections: withDefault({
    env: 'CARDPOLL_API_MAX_CONNECTIONS',
    yaml: 'api.max_connections',
    kind: integer({ min: 10, max: 1_000_000 }),
    default: 5_000,
    doc: 'Maximum number of connections to the API. At the maximum, each new connection closes one of the address with the most connections.',
  }),
  headerTimeoutMs: withDefault({
    env: 'CARDPOLL_API_HEADER_TIMEOUT_MS',
    yaml: 'api.header_timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 10_000,
    doc: 'Time limit for receiving the headers of a request, counted from the connection.',
  }),
  bodyTimeoutMs: withDefault({
    env: 'CARDPOLL_API_BODY_TIMEOUT_MS',
    yaml: 'api.body_timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 30_000,
    doc: 'Time limit for receiving the body of a request; for imports, the limit applies per KiB.',
  }),
  idleTimeoutMs: withDefault({
    env: 'CARDPOLL_API_IDLE_TIMEOUT_MS',
    yaml: 'api.idle_timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 72_000,
    doc: 'How long an idle connection is kept open (5 s at most before its first valid token); set it longer than the idle timeout of your load balancer.',
  }),
  drainDelayMs: withDefault({
    env: 'CARDPOLL_API_DRAIN_DELAY_MS',
    yaml: 'api.drain_delay_ms',
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 0,
    doc: 'How long a stopping daemon still accepts connections while /readyz answers 503, so that a load balancer can react.',
  }),
  maxOpenTriggers: withDefault({
    env: 'CARDPOLL_API_MAX_OPEN_TRIGGERS',
    yaml: 'api.max_open_triggers',
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 10_000,
    doc: 'Maximum number of open manual triggers; further ones are refused.',
  }),
  maxOpenConditionTriggers: withDefault({
    env: 'CARDPOLL_API_MAX_OPEN_CONDITION_TRIGGERS',
    yaml: 'api.max_open_condition_triggers',
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 10,
    doc: 'Maximum number of open triggers by condition of each task type; further ones are refused.',
  }),
  maxAlertRules: withDefault({
    env: 'CARDPOLL_API_MAX_ALERT_RULES',
    yaml: 'api.max_alert_rules',
    kind: integer({ min: 1, max: 100_000 }),
    default: 1_000,
    doc: 'Maximum number of alert rules; further ones are refused.',
  }),
} as const;

// Settings of the upstream gateway: its address, its limits, and the credentials. profile-settings.ts has its calls and answers.
// Part of the settings table (settings.ts); the only place that has their defaults and bounds.
import type { RateLimit } from '../../domain/limits/rate-limit.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { SECRET_LINE, SECRET_TEXT } from '../admin-tokens.ts';
import { callsPer, RATE_LIMIT_LIST } from '../gateway/rate-limits.ts';
import { BASE_URL, duration, integer, text } from '../kinds.ts';
import { optional, secret, section, withDefault } from './setting.ts';

export const GATEWAY = section('gateway.', 'GATEWAY_', {
  profile: withDefault({
    flag: '--gateway-profile',
    kind: text('name or file'),
    default: 'default',
    doc: 'Profile of the gateway: the name of a shipped one (`cardpoll gateway profiles`), or a YAML file.',
  }),
  url: optional({
    flag: '--gateway-url',
    kind: BASE_URL,
    defaultText: 'none: the daemon refuses to start without it',
    doc: 'Base URL of the upstream gateway.',
  }),
  timeoutMs: withDefault({
    kind: duration('ms', { min: 50, max: 120_000 }),
    default: 5_000,
    doc: 'Deadline of one gateway call.',
  }),
  /** null: no ceiling. */
  maxConcurrency: optional({
    kind: integer({ min: TASK_TYPES.length, max: 300_000 }),
    doc: 'Maximum number of concurrent gateway calls of all task types together; each type gets what it needs of them. Set the same number on every instance.',
  }),
  maxResponseBytes: withDefault({
    kind: integer({ min: 1_024, max: 16_777_216 }),
    default: 65_536,
    doc: 'Maximum size of a gateway answer, unpacked; a larger one is an error.',
  }),
  maxRetryAfterSeconds: withDefault({
    kind: duration('s', { min: 1, max: 3_600 }),
    default: 60,
    doc: 'Maximum pause that Retry-After or a quota header of the gateway can cause.',
  }),
  maxConnections: withDefault({
    kind: integer({ min: 1, max: 65_535 }),
    // Above any sensible sum of the concurrency limits, so that the limits hold calls back and not the pool.
    default: 4_096,
    doc: 'Maximum number of connections from this instance to the gateway. A call waits for a free one until its deadline.',
  }),
});

/** Paths of files that tls-files.ts reads; they change while the daemon runs. */
export const GATEWAY_TLS = section('gateway.tls_', 'GATEWAY_TLS_', {
  cert: optional({
    kind: text('path'),
    defaultText: 'no client certificate',
    doc: 'PEM file with the client certificate and its chain, for a gateway that asks for one. Needs the key too; SIGHUP reloads both.',
  }),
  key: optional({
    kind: text('path'),
    defaultText: 'no client certificate',
    doc: 'PEM file with the private key of the client certificate; must not be world-readable.',
  }),
  ca: optional({
    kind: text('path'),
    defaultText: 'what Node trusts',
    doc: 'PEM file with the certificate authorities to trust for the gateway; SIGHUP reloads it.',
  }),
});

/** Change while the daemon runs: tokens and passwords are rotated. */
export const CREDENTIALS = section('gateway.', 'GATEWAY_', {
  token: secret(
    SECRET_TEXT,
    'Token of gateway.auth.kind bearer, header and query; in the request of a login, {token}.',
  ),
  hmacKey: secret(SECRET_TEXT, 'Key that signs every gateway call (HMAC-SHA256).'),
  username: secret(SECRET_LINE, 'User of gateway.auth.kind basic; in requests, {username}.'),
  password: secret(
    SECRET_LINE,
    'Password of gateway.auth.kind basic; in the request of a login, {password}.',
  ),
  clientId: secret(SECRET_LINE, 'Client id of gateway.auth.kind oauth2; in requests, {client_id}.'),
  clientSecret: secret(
    SECRET_LINE,
    'Client secret of gateway.auth.kind oauth2; in the request of a login, {client_secret}.',
  ),
});

/** The number of calls that the gateway allows (docs/scaling.md). gateway/rate-limits.ts reads the list. */
export const RATE_LIMITS = section('gateway.', 'GATEWAY_', {
  rateLimitPerSecond: optional({
    kind: callsPer('second'),
    doc: 'Calls per second that the gateway allows, from all instances together; set the same on every instance; needs Redis. The burst is two fifths of it, at least 4 (2 for a limit of 1). If gateway.rate_limits also has a limit per second for all calls, the stricter is in force.',
  }),
  rateLimits: withDefault<readonly RateLimit[]>({
    env: null,
    kind: RATE_LIMIT_LIST,
    default: [],
    doc: 'What the gateway allows, from all instances together: calls per second, minute or hour, of all interfaces or of some, and how often one card may be polled. Set the same on every instance. Limits of calls need Redis.',
  }),
});

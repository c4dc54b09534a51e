// Settings of the HTTP server: access, limits and timeouts. Part of the settings table (settings.ts).
import type { AdminToken } from '../../domain/admin-token.ts';
import type { AddressRange } from '../../platform/addresses.ts';
import { ADMIN_TOKENS } from '../admin-tokens.ts';
import { ADDRESS_RANGE, duration, integer, listOf, text } from '../kinds.ts';
import { optional, section, withDefault } from './setting.ts';

/** May change while the daemon runs. */
export const ACCESS = {
  ...section('', '', {
    /** Empty: the API is open, and only on a loopback address. */
    adminTokens: withDefault<readonly AdminToken[]>({
      secret: 'whole',
      kind: ADMIN_TOKENS,
      default: [],
      doc: 'Who may use the admin API: [name:]role:token entries, roles viewer, operator and admin.',
    }),
  }),
  ...section('api.', 'API_', {
    rateLimitPerMinute: withDefault({
      kind: integer({ min: 0, max: 10_000_000 }),
      default: 12_000,
      doc: 'Requests per minute that each token (without tokens, each address) may send to one instance; 0: no limit.',
    }),
  }),
};

/** Paths of files that tls-files.ts reads. */
export const TLS = section('api.tls_', 'TLS_', {
  cert: optional({
    flag: '--tls-cert',
    kind: text('path'),
    defaultText: 'none: plain HTTP',
    doc: 'PEM file with the HTTPS certificate and its chain. Needs the key too; SIGHUP reloads both.',
  }),
  key: optional({
    flag: '--tls-key',
    kind: text('path'),
    defaultText: 'none: plain HTTP',
    doc: 'PEM file with the private key; must not be world-readable.',
  }),
});

export const API = section('api.', 'API_', {
  trustedProxies: withDefault<readonly AddressRange[]>({
    kind: listOf(ADDRESS_RANGE),
    default: [],
    doc: 'Addresses of reverse proxies whose X-Forwarded-For is trusted. Needs admin tokens.',
  }),
  maxConnections: withDefault({
    kind: integer({ min: 10, max: 1_000_000 }),
    default: 5_000,
    doc: 'Maximum number of connections to the API. At the maximum, each new connection closes one of the address with the most connections.',
  }),
  headerTimeoutMs: withDefault({
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 10_000,
    doc: 'Time limit for receiving the headers of a request, counted from the connection.',
  }),
  idleTimeoutMs: withDefault({
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 72_000,
    doc: 'How long an idle connection is kept open (5 s at most before its first valid token); set it longer than the idle timeout of your load balancer.',
  }),
  drainDelayMs: withDefault({
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 0,
    doc: 'How long a stopping daemon still accepts connections while /readyz answers 503, so that a load balancer can react.',
  }),
  maxOpenTriggers: withDefault({
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 10_000,
    doc: 'Maximum number of open manual triggers; further ones are refused.',
  }),
  maxAlertRules: withDefault({
    kind: integer({ min: 1, max: 100_000 }),
    default: 1_000,
    doc: 'Maximum number of alert rules; further ones are refused.',
  }),
});

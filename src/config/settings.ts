// THE table of settings. Flags, variables, YAML paths, defaults, bounds and documentation stand here and nowhere
// else. Reading is reader.ts; rules between settings are rules.ts.
import { adminTokens, secretText } from './admin-tokens.ts';
import { ALERTS } from './alert-settings.ts';
import { API } from './api-settings.ts';
import { CLEANUP } from './cleanup-settings.ts';
import { INTERFACE_SETTINGS } from './gateway-interfaces.ts';
import {
  DATABASE_MAX_CONNECTIONS,
  GATEWAY_MAX_CONNECTIONS,
  PROBE_LISTEN,
  PROCESSES,
} from './instance-settings.ts';
import {
  baseUrl,
  connectionUrl,
  duration,
  hostPort,
  integer,
  listOf,
  oneOf,
  onOff,
  text,
  timeZone,
  url,
} from './kinds.ts';
import { LOG_SEARCH } from './log-search-settings.ts';
import { optional, type Setting, withDefault } from './setting.ts';

export const ROLES = ['worker', 'api', 'scheduler'] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const daemon = ['daemon'] as const;
const client = ['client'] as const;

/** Path of the config file itself; it cannot stand in the file. */
export const CONFIG_FILE = optional({
  flag: '--config',
  env: 'CARDPOLL_CONFIG',
  kind: text('path'),
  doc: 'YAML file with settings.',
  scopes: ['daemon', 'migrate', 'client'],
});

const GENERAL = {
  listen: withDefault({
    flag: '--listen',
    env: 'CARDPOLL_LISTEN',
    yaml: 'listen',
    kind: hostPort(),
    default: { host: '127.0.0.1', port: 7480 },
    doc: 'Address of the admin API. Anything but a loopback address needs admin tokens.',
    scopes: daemon,
  }),
  probeListen: PROBE_LISTEN,
  redisUrl: optional({
    flag: '--redis-url',
    env: 'CARDPOLL_REDIS_URL',
    yaml: 'redis_url',
    file: { flag: null, env: 'CARDPOLL_REDIS_URL_FILE', credential: 'redis_url' },
    kind: connectionUrl('redis', 'rediss', 'redis-sentinel', 'redis-cluster'),
    defaultText: 'embedded, when neither store is set',
    doc: 'Redis that coordinates the instances; several hosts with commas for Sentinel (then /master) and Cluster. Needs the database URL too.',
    scopes: daemon,
  }),
  databaseUrl: optional({
    flag: '--database-url',
    env: 'CARDPOLL_DATABASE_URL',
    yaml: 'database_url',
    file: { flag: null, env: 'CARDPOLL_DATABASE_URL_FILE', credential: 'database_url' },
    kind: url('postgres', 'postgresql'),
    defaultText: 'embedded, when neither store is set',
    doc: 'PostgreSQL that keeps cards, usage and history. Needs the Redis URL too.',
    scopes: ['daemon', 'migrate'],
  }),
  databaseMaxConnections: DATABASE_MAX_CONNECTIONS,
  dataDir: optional({
    flag: '--data-dir',
    env: 'CARDPOLL_DATA_DIR',
    yaml: 'data_dir',
    kind: text('path'),
    defaultText: '$XDG_STATE_HOME/cardpoll',
    doc: 'Directory of the embedded stores; :memory: keeps nothing.',
    scopes: ['daemon', 'migrate'],
  }),
  roles: withDefault<readonly Role[]>({
    flag: '--roles',
    env: 'CARDPOLL_ROLES',
    yaml: 'roles',
    kind: listOf(oneOf(ROLES)),
    default: ROLES,
    doc: 'What this instance does.',
    scopes: daemon,
  }),
  processes: PROCESSES,
  timeZone: withDefault({
    flag: '--time-zone',
    env: 'CARDPOLL_TIME_ZONE',
    yaml: 'time_zone',
    kind: timeZone(),
    default: 'Asia/Shanghai',
    doc: 'Time zone in which usage months begin and end.',
    scopes: daemon,
  }),
  logDir: optional({
    flag: '--log-dir',
    env: 'CARDPOLL_LOG_DIR',
    yaml: 'log_dir',
    kind: text('path'),
    defaultText: 'standard output',
    doc: 'Directory for worker.log, api.log and access.log.',
    scopes: daemon,
  }),
  logLevel: withDefault<LogLevel>({
    flag: '--log-level',
    env: 'CARDPOLL_LOG_LEVEL',
    yaml: 'log_level',
    kind: oneOf(LOG_LEVELS),
    default: 'info',
    doc: 'Least severe level that is logged.',
    scopes: daemon,
  }),
  adminTokens: optional({
    env: 'CARDPOLL_ADMIN_TOKENS',
    file: { flag: null, env: 'CARDPOLL_ADMIN_TOKENS_FILE', credential: 'admin_tokens' },
    kind: adminTokens(),
    doc: 'Who may use the admin API: [name:]role:token entries, roles viewer, operator and admin.',
    scopes: daemon,
  }),
} as const;

const GATEWAY = {
  gatewayUrl: optional({
    flag: '--gateway-url',
    env: 'CARDPOLL_GATEWAY_URL',
    yaml: 'gateway.url',
    kind: baseUrl(),
    defaultText: 'none: the daemon refuses to start without it',
    doc: 'Base URL of the upstream gateway.',
    scopes: daemon,
  }),
  gatewayTimeoutMs: withDefault({
    env: 'CARDPOLL_GATEWAY_TIMEOUT_MS',
    yaml: 'gateway.timeout_ms',
    kind: duration('ms', { min: 50, max: 120_000 }),
    default: 5_000,
    doc: 'Deadline of one gateway call.',
    scopes: daemon,
  }),
  gatewayMaxConcurrency: optional({
    env: 'CARDPOLL_GATEWAY_MAX_CONCURRENCY',
    yaml: 'gateway.max_concurrency',
    kind: integer({ min: 3, max: 300_000 }),
    doc: 'Most calls the gateway gets at a time from all task types together, divided by need; give every instance the same.',
    scopes: daemon,
  }),
  gatewayMaxResponseBytes: optional({
    env: 'CARDPOLL_GATEWAY_MAX_RESPONSE_BYTES',
    yaml: 'gateway.max_response_bytes',
    kind: integer({ min: 1_024, max: 16_777_216 }),
    defaultText: '65536',
    doc: 'Longest gateway answer that is read; a longer one is an error.',
    scopes: daemon,
  }),
  gatewayMaxRetryAfterSeconds: optional({
    env: 'CARDPOLL_GATEWAY_MAX_RETRY_AFTER_SECONDS',
    yaml: 'gateway.max_retry_after_seconds',
    kind: duration('s', { min: 1, max: 3_600 }),
    defaultText: '60',
    doc: 'Longest pause that a Retry-After of the gateway may ask for.',
    scopes: daemon,
  }),
  gatewayMaxConnections: GATEWAY_MAX_CONNECTIONS,
  gatewayStoppedStatuses: optional({
    env: 'CARDPOLL_GATEWAY_STOPPED_STATUSES',
    yaml: 'gateway.stopped_statuses',
    kind: listOf(text('status')),
    defaultText: 'stopped,suspended,停机',
    doc: 'Values of cardStatus that mean the card is stopped.',
    scopes: daemon,
  }),
  gatewayToken: optional({
    env: 'CARDPOLL_GATEWAY_TOKEN',
    file: { flag: null, env: 'CARDPOLL_GATEWAY_TOKEN_FILE', credential: 'gateway.token' },
    kind: secretText(),
    doc: 'Bearer token sent with every gateway call.',
    scopes: daemon,
  }),
  gatewayHmacKey: optional({
    env: 'CARDPOLL_GATEWAY_HMAC_KEY',
    file: { flag: null, env: 'CARDPOLL_GATEWAY_HMAC_KEY_FILE', credential: 'gateway.hmac_key' },
    kind: secretText(),
    doc: 'Key with which every gateway call is signed.',
    scopes: daemon,
  }),
} as const;

const POLLING = {
  leaseMs: withDefault({
    env: 'CARDPOLL_LEASE_MS',
    yaml: 'polling.lease_ms',
    kind: duration('ms', { min: 1_000, max: 600_000 }),
    default: 15_000,
    doc: 'How long a claimed card belongs to a worker; at least twice the gateway timeout and a second.',
    scopes: daemon,
  }),
  claimBatch: withDefault({
    env: 'CARDPOLL_CLAIM_BATCH',
    yaml: 'polling.claim_batch',
    kind: integer({ min: 1, max: 2_000 }),
    default: 200,
    doc: 'Most cards claimed in one step.',
    scopes: daemon,
  }),
  queueCap: withDefault({
    env: 'CARDPOLL_QUEUE_CAP',
    yaml: 'polling.queue_cap',
    kind: integer({ min: 1_000, max: 10_000_000 }),
    default: 200_000,
    doc: 'Queue length per task type at which no more due cards are added; the schedule then lags.',
    scopes: daemon,
  }),
  adaptiveConcurrency: withDefault({
    env: 'CARDPOLL_ADAPTIVE_CONCURRENCY',
    yaml: 'polling.adaptive_concurrency',
    kind: onOff(),
    default: true,
    defaultText: 'on',
    doc: 'Whether the limits of the task types are lowered while the gateway refuses calls or slows down under them.',
    scopes: daemon,
  }),
  writeBuffer: withDefault({
    env: 'CARDPOLL_WRITE_BUFFER',
    yaml: 'polling.write_buffer',
    kind: integer({ min: 100, max: 1_000_000 }),
    default: 20_000,
    doc: 'Most results waiting for the database; claiming stops when it is full.',
    scopes: daemon,
  }),
  retryBaseMs: withDefault({
    env: 'CARDPOLL_RETRY_BASE_MS',
    yaml: 'polling.retry_base_ms',
    kind: duration('ms', { min: 10, max: 600_000 }),
    default: 1_000,
    doc: 'Pause before the first retry of a failed poll; it doubles with every further failure.',
    scopes: daemon,
  }),
  cardCacheTtlSeconds: withDefault({
    env: 'CARDPOLL_CARD_CACHE_TTL_SECONDS',
    yaml: 'polling.card_cache_ttl_seconds',
    kind: duration('s', { min: 1, max: 86_400 }),
    default: 300,
    doc: 'How long card information stays cached.',
    scopes: daemon,
  }),
  initBatch: withDefault({
    env: 'CARDPOLL_INIT_BATCH',
    yaml: 'polling.init_batch',
    kind: integer({ min: 100, max: 1_000_000 }),
    default: 100_000,
    doc: 'Cards per batch of the progressive initialisation.',
    scopes: daemon,
  }),
  initPauseMs: withDefault({
    env: 'CARDPOLL_INIT_PAUSE_MS',
    yaml: 'polling.init_pause_ms',
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 1_000,
    doc: 'Pause between two batches of the progressive initialisation.',
    scopes: daemon,
  }),
  drainTimeoutMs: withDefault({
    env: 'CARDPOLL_DRAIN_TIMEOUT_MS',
    yaml: 'polling.drain_timeout_ms',
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 30_000,
    doc: 'How long a stopping daemon waits for the work it has begun.',
    scopes: daemon,
  }),
} as const;

const CLIENT = {
  clientUrl: withDefault({
    flag: '--url',
    env: 'CARDPOLL_URL',
    yaml: 'client.url',
    kind: baseUrl(),
    default: 'http://127.0.0.1:7480',
    doc: 'Base URL of the daemon to talk to.',
    scopes: client,
  }),
  clientToken: optional({
    env: 'CARDPOLL_TOKEN',
    file: { flag: '--token-file', env: 'CARDPOLL_TOKEN_FILE', credential: 'client.token' },
    kind: secretText(),
    doc: 'Token to show the daemon.',
    scopes: client,
  }),
  clientTimeoutMs: withDefault({
    flag: '--timeout',
    env: 'CARDPOLL_TIMEOUT_MS',
    yaml: 'client.timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 10_000,
    doc: 'How long to wait for an answer of the daemon.',
    scopes: client,
  }),
} as const;

export const SETTINGS = {
  ...GENERAL,
  ...GATEWAY,
  ...POLLING,
  ...CLEANUP,
  ...ALERTS,
  ...API,
  ...CLIENT,
} as const;

/** Every setting, in the order documentation shows them. */
export const ALL_SETTINGS: readonly Setting<unknown>[] = [
  CONFIG_FILE,
  ...Object.values(GENERAL),
  ...Object.values(GATEWAY),
  ...Object.values(INTERFACE_SETTINGS).flatMap((call) =>
    [call.method, call.path, call.field].filter((setting) => setting !== null),
  ),
  ...Object.values(POLLING),
  ...Object.values(ALERTS),
  ...Object.values(CLEANUP),
  ...Object.values(API),
  ...Object.values(LOG_SEARCH).flatMap(({ paths, fields, phrases }) => [paths, fields, phrases]),
  ...Object.values(CLIENT),
];

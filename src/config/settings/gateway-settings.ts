// Settings of the upstream gateway: where it is, which calls it offers and how its answers are read (contract, "Gateway
// profile"). Part of the settings table (settings.ts); the only place that has their defaults and bounds.
import {
  GATEWAY_METHODS,
  type GatewayMethod,
  INTERFACES,
  type InterfaceName,
  perInterface,
} from '../../domain/gateway-interface.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { secretText } from '../admin-tokens.ts';
import { baseUrl, duration, integer, listOf, oneOf, text, urlPath } from '../kinds.ts';
import { optional, type Setting, withDefault } from './setting.ts';

const daemon = ['daemon'] as const;

export const GATEWAY = {
  url: optional({
    flag: '--gateway-url',
    env: 'CARDPOLL_GATEWAY_URL',
    yaml: 'gateway.url',
    kind: baseUrl(),
    defaultText: 'none: the daemon refuses to start without it',
    doc: 'Base URL of the upstream gateway.',
    scopes: daemon,
  }),
  timeoutMs: withDefault({
    env: 'CARDPOLL_GATEWAY_TIMEOUT_MS',
    yaml: 'gateway.timeout_ms',
    kind: duration('ms', { min: 50, max: 120_000 }),
    default: 5_000,
    doc: 'Deadline of one gateway call.',
    scopes: daemon,
  }),
  /** null: no ceiling. */
  maxConcurrency: optional({
    env: 'CARDPOLL_GATEWAY_MAX_CONCURRENCY',
    yaml: 'gateway.max_concurrency',
    kind: integer({ min: TASK_TYPES.length, max: 300_000 }),
    doc: 'Maximum number of concurrent gateway calls of all task types together, divided by need; set the same on every instance.',
    scopes: daemon,
  }),
  maxResponseBytes: withDefault({
    env: 'CARDPOLL_GATEWAY_MAX_RESPONSE_BYTES',
    yaml: 'gateway.max_response_bytes',
    kind: integer({ min: 1_024, max: 16_777_216 }),
    default: 65_536,
    doc: 'Maximum size of a gateway answer; a larger one is an error.',
    scopes: daemon,
  }),
  maxRetryAfterSeconds: withDefault({
    env: 'CARDPOLL_GATEWAY_MAX_RETRY_AFTER_SECONDS',
    yaml: 'gateway.max_retry_after_seconds',
    kind: duration('s', { min: 1, max: 3_600 }),
    default: 60,
    doc: 'Maximum pause that a Retry-After header of the gateway can cause.',
    scopes: daemon,
  }),
  maxConnections: withDefault({
    env: 'CARDPOLL_GATEWAY_MAX_CONNECTIONS',
    yaml: 'gateway.max_connections',
    kind: integer({ min: 1, max: 65_535 }),
    // Above any sensible sum of the concurrency limits, so that the limits hold calls back and not the pool.
    default: 4_096,
    doc: 'Maximum number of connections from this instance to the gateway. A call waits for a free one until its deadline.',
    scopes: daemon,
  }),
  stoppedStatuses: withDefault<readonly string[]>({
    env: 'CARDPOLL_GATEWAY_STOPPED_STATUSES',
    yaml: 'gateway.stopped_statuses',
    kind: listOf(text('status')),
    default: ['stopped', 'suspended', '停机'],
    doc: 'Values of cardStatus that mean the card is stopped.',
    scopes: daemon,
  }),
  token: optional({
    env: 'CARDPOLL_GATEWAY_TOKEN',
    file: { flag: null, env: 'CARDPOLL_GATEWAY_TOKEN_FILE', credential: 'gateway.token' },
    kind: secretText(),
    doc: 'Bearer token sent with every gateway call.',
    scopes: daemon,
  }),
  hmacKey: optional({
    env: 'CARDPOLL_GATEWAY_HMAC_KEY',
    file: { flag: null, env: 'CARDPOLL_GATEWAY_HMAC_KEY_FILE', credential: 'gateway.hmac_key' },
    kind: secretText(),
    doc: 'Key that signs every gateway call (HMAC-SHA256).',
    scopes: daemon,
  }),
} as const;

interface InterfaceSettings {
  readonly method: Setting<GatewayMethod>;
  readonly path: Setting<string>;
  /** null for calls that change something and return no data. */
  readonly field: Setting<string> | null;
}

export const INTERFACE_SETTINGS: Readonly<Record<InterfaceName, InterfaceSettings>> = perInterface((name) => {
  const yaml = `gateway.interfaces.${name}`;
  const { method, path, answer } = INTERFACES[name];
  return {
    method: withDefault<GatewayMethod>({
      yaml: `${yaml}.method`,
      kind: oneOf(GATEWAY_METHODS),
      default: method,
      doc: `HTTP method of the ${name} call.`,
      scopes: daemon,
    }),
    path: withDefault({
      yaml: `${yaml}.path`,
      kind: urlPath(),
      default: path,
      doc: `Path of the ${name} call, relative to the base URL.`,
      scopes: daemon,
    }),
    field:
      answer === null
        ? null
        : withDefault({
            yaml: `${yaml}.field`,
            kind: text('field name'),
            default: answer.field,
            doc: `Field to read from the data of the ${name} answer.`,
            scopes: daemon,
          }),
  };
});

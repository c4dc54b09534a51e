// The shape of the configuration of `cardpoll daemon` and `cardpoll migrate`: plain, frozen data that the composition
// root hands on in parts. load-config.ts makes it.

import type { GatewayMethod, InterfaceName } from '../domain/gateway-interface.ts';
import type { AddressRange } from '../platform/ssrf-guard.ts';
import type { AdminToken } from './admin-tokens.ts';
import type { HostPort } from './kinds.ts';
import type { LogLevel, Role } from './settings.ts';
import type { TlsFiles } from './tls-files.ts';

export interface DaemonConfig {
  readonly listen: HostPort;
  /** For an instance without the role api; null: the usual address, or a free port after it. */
  readonly probeListen: HostPort | null;
  readonly roles: readonly Role[];
  /** More than one: they run under a supervisor. */
  readonly processes: number;
  readonly stores: StoresConfig;
  readonly databaseMaxConnections: number;
  /** IANA name. */
  readonly timeZone: string;
  /** null: standard output. */
  readonly logDir: string | null;
  readonly logLevel: LogLevel;
  /** Empty: the API is open, and only on a loopback address. */
  readonly adminTokens: readonly AdminToken[];
  /** Requests a caller may send a minute; 0: any number. */
  readonly rateLimitPerMinute: number;
  /** Refused requests an address may send a minute; 0: any number. */
  readonly refusalLimitPerMinute: number;
  /** null: plain HTTP. */
  readonly tls: TlsFiles | null;
  readonly http: HttpConfig;
  readonly gateway: GatewayConfig;
  readonly polling: PollingSettings;
  readonly alerts: { readonly intervalMs: number };
  readonly webhooks: WebhookConfig;
  readonly cleanup: CleanupSettings;
}

interface HttpConfig {
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly AddressRange[];
  readonly maxConnections: number;
  readonly headerTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly drainDelayMs: number;
  readonly maxOpenTriggers: number;
  readonly maxAlertRules: number;
}

export type StoresConfig =
  | { readonly kind: 'external'; readonly redisUrl: string; readonly databaseUrl: string }
  | { readonly kind: 'embedded'; readonly dataDir: string };

/** What was set about the gateway. What is absent takes the default of the gateway's own profile. */
export interface GatewayConfig {
  readonly url: string;
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly maxResponseBytes?: number;
  readonly maxRetryAfterSeconds?: number;
  readonly stoppedStatuses?: readonly string[];
  readonly token?: string;
  readonly hmacKey?: string;
  readonly interfaces: Readonly<Partial<Record<InterfaceName, GatewayInterfaceConfig>>>;
}

export interface GatewayInterfaceConfig {
  readonly method?: GatewayMethod;
  readonly path?: string;
  readonly field?: string;
}

interface PollingSettings {
  readonly leaseMs: number;
  readonly claimBatch: number;
  readonly queueCap: number;
  readonly adaptiveConcurrency: boolean;
  /** Calls the gateway gets at a time from all task types together; null: no ceiling. */
  readonly gatewayMaxConcurrency: number | null;
  readonly writeBuffer: number;
  readonly retryBaseMs: number;
  readonly cardCacheTtlSeconds: number;
  readonly initBatch: number;
  readonly initPauseMs: number;
  readonly drainTimeoutMs: number;
}

interface CleanupSettings {
  /** Cron expression, or `off`. */
  readonly schedule: string;
  readonly pauseMs: number;
}

interface WebhookConfig {
  /** Ranges that may be called although they are not public. */
  readonly allowCidrs: readonly AddressRange[];
  /** For rules without their own, the newest first; none: webhooks are not signed. */
  readonly secrets: readonly string[];
}

export interface MigrateConfig {
  readonly database:
    | { readonly kind: 'postgres'; readonly databaseUrl: string }
    | { readonly kind: 'embedded'; readonly dataDir: string };
}

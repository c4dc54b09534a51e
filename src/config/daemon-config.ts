// The shape of the configuration of `cardpoll daemon` and `cardpoll migrate`: plain, frozen data that the composition
// root passes on in parts. It follows from the settings table, section by section; load-config.ts makes it.
import type { DataUnit } from '../domain/gateway/profile-syntax.ts';
import type { GatewayMethod, InterfaceName, Offers } from '../domain/gateway-interface.ts';
import type { RateLimit } from '../domain/limits/rate-limit.ts';
import type { LoadedModule } from './gateway/load-module.ts';
import type { BatchRule, Code, JsonTemplate, SuccessRule } from './gateway/profile-kinds.ts';
import type { ALERTS, WEBHOOKS } from './settings/alert-settings.ts';
import type { ACCESS, API } from './settings/api-settings.ts';
import type { CLEANUP } from './settings/cleanup-settings.ts';
import type { GATEWAY } from './settings/gateway-settings.ts';
import type { INSTANCE } from './settings/instance-settings.ts';
import type { POLLING, USAGE } from './settings/polling-settings.ts';
import type { AUTH } from './settings/profile-settings.ts';
import type { Values } from './settings/setting.ts';
import type { STOPS } from './settings/stop-settings.ts';
import type { STORES } from './settings/store-settings.ts';
import type { ClientTlsFiles, TlsFiles } from './tls-files.ts';

type Instance = Values<typeof INSTANCE>;
type Access = Values<typeof ACCESS>;

export interface DaemonConfig extends Instance, Access {
  readonly stores: StoresConfig;
  /** null: plain HTTP. */
  readonly tls: TlsFiles | null;
  readonly api: Values<typeof API>;
  readonly gateway: GatewayConfig;
  readonly polling: Values<typeof POLLING>;
  readonly stops: Values<typeof STOPS>;
  readonly usage: Values<typeof USAGE>;
  readonly alerts: Values<typeof ALERTS>;
  readonly webhooks: Values<typeof WEBHOOKS>;
  readonly cleanup: Values<typeof CLEANUP>;
}

type StoreValues = Pick<Values<typeof STORES>, 'redisSentinelPassword' | 'databaseMaxConnections'>;

export type StoresConfig = ExternalStoresConfig | { readonly kind: 'embedded'; readonly dataDir: string };

export interface ExternalStoresConfig extends StoreValues {
  readonly kind: 'external';
  readonly redisUrl: string;
  readonly redisTls: ClientTlsFiles;
  readonly databaseUrl: string;
}

export interface GatewayConfig extends Values<typeof GATEWAY> {
  readonly url: string;
  readonly auth: Values<typeof AUTH>;
  /** null: the HTTP status alone says whether a call succeeded. */
  readonly success: SuccessRule | null;
  readonly errors: ErrorRules;
  /** Code of the operator's own; null: none. */
  readonly module: LoadedModule | null;
  readonly stoppedStatuses: readonly string[];
  /** null: the gateway does not offer the interface. */
  readonly interfaces: Readonly<Record<InterfaceName, GatewayInterface | null>>;
  /** What the gateway allows; empty: no limit. */
  readonly rateLimits: readonly RateLimit[];
}

/** Change while the daemon runs: tokens and passwords are rotated. */
export const GATEWAY_CREDENTIALS = [
  'token',
  'username',
  'password',
  'clientId',
  'clientSecret',
  'hmacKey',
] as const;

export type GatewayCredentials = Pick<GatewayConfig, (typeof GATEWAY_CREDENTIALS)[number]>;

export function offersOf({ interfaces }: Pick<GatewayConfig, 'interfaces'>): Offers {
  return (name) => interfaces[name] !== null;
}

/** Codes are texts: a number and its text are the same code. */
export interface ErrorRules {
  /** Where an answer has its code; null: nowhere. */
  readonly path: string | null;
  readonly message: string | null;
  readonly throttled: readonly string[];
  readonly unknownCard: readonly string[];
  readonly auth: readonly string[];
}

/** How an interface is called and answers; texts may have placeholders (docs/gateways.md). */
export interface GatewayInterface {
  readonly method: GatewayMethod;
  /** Relative to the base URL; starts with a slash. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonTemplate | null;
  readonly form: Readonly<Record<string, string>> | null;
  /** null: gateway.timeout_ms. */
  readonly timeoutMs: number | null;
  /** What is read from the answer; null for calls that only succeed or fail. */
  readonly reading: Reading | null;
  readonly batch: BatchRule | null;
}

export type Reading =
  | { readonly kind: 'verified'; readonly value: string; readonly trueValues: readonly Code[] }
  | { readonly kind: 'status'; readonly value: string }
  | { readonly kind: 'megabytes'; readonly value: string; readonly unit: DataUnit }
  | {
      readonly kind: 'remainder';
      readonly remaining: string;
      readonly total: string;
      readonly unit: DataUnit;
    };

/** For `cardpoll init adopt`; the time zone decides the month of its audit entry. */
export interface AdoptConfig extends Pick<Instance, 'timeZone'> {
  readonly stores: ExternalStoresConfig;
}

export interface MigrateConfig {
  readonly database:
    | { readonly kind: 'postgres'; readonly databaseUrl: string }
    | { readonly kind: 'embedded'; readonly dataDir: string };
}

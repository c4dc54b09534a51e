// The shape of the configuration of `cardpoll daemon` and `cardpoll migrate`: plain, frozen data that the composition
// root passes on in parts. It follows from the settings table, section by section; load-config.ts makes it.
import type { DataUnit } from '../domain/gateway/profile-syntax.ts';
import type { GatewayMethod, InterfaceName } from '../domain/gateway-interface.ts';
import type { GatewayFacts, RateLimit } from '../domain/limits/rate-limit.ts';
import type { LoadedModule } from './gateway/load-module.ts';
import type { BatchRule, Code, FindRule, JsonTemplate, SuccessRule } from './gateway/profile-kinds.ts';
import type { Values } from './settings/setting.ts';
import type { SETTINGS } from './settings/settings.ts';
import type { ClientTlsFiles, TlsFiles } from './tls-files.ts';

type Section<Name extends keyof typeof SETTINGS> = Values<(typeof SETTINGS)[Name]>;

export interface DaemonConfig extends Section<'instance'>, Section<'access'> {
  readonly stores: StoresConfig;
  /** null: plain HTTP. */
  readonly tls: TlsFiles | null;
  readonly api: Section<'api'>;
  readonly gateway: GatewayConfig;
  readonly polling: Section<'polling'>;
  readonly stops: Section<'stops'>;
  readonly usage: Section<'usage'>;
  readonly alerts: Section<'alerts'>;
  readonly webhooks: Section<'webhooks'>;
  readonly cleanup: Section<'cleanup'>;
}

type StoreValues = Pick<Section<'stores'>, 'redisSentinelPassword' | 'databaseMaxConnections'>;

export type StoresConfig = ExternalStoresConfig | { readonly kind: 'embedded'; readonly dataDir: string };

export interface ExternalStoresConfig extends StoreValues {
  readonly kind: 'external';
  readonly redisUrl: string;
  readonly redisTls: ClientTlsFiles;
  readonly databaseUrl: string;
}

export interface GatewayCredentials extends Section<'credentials'> {
  /** Of the client, and whom it trusts. */
  readonly tls: ClientTlsFiles;
}

export interface GatewayConfig extends Section<'gateway'>, GatewayCredentials {
  readonly url: string;
  readonly auth: Section<'auth'>;
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

export function gatewayFactsOf({ interfaces, rateLimits }: GatewayConfig): GatewayFacts {
  return {
    rateLimits,
    offers: (name) => interfaces[name] !== null,
    cardsPerCall: (name) => interfaces[name]?.batch?.size ?? 1,
  };
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
  /** A body that is neither JSON nor a form. */
  readonly bodyText: string | null;
  readonly form: Readonly<Record<string, string>> | null;
  /** null: gateway.timeout_ms. */
  readonly timeoutMs: number | null;
  /** What is read from the answer; null for calls that only succeed or fail. */
  readonly reading: Reading | null;
  readonly batch: BatchRule | null;
  /** The answer has a list, and one of its items is the card's. */
  readonly find: FindRule | null;
  /** Where the answer has the number of its card; null: in a field `iccid` near the value, if there is one. */
  readonly iccidValue: string | null;
}

export type Reading = {
  /** What it means that there is no value; absent or null: the answer is malformed. */
  readonly missing?: Code | null;
} & (
  | { readonly kind: 'verified'; readonly value: string; readonly trueValues: readonly Code[] }
  | { readonly kind: 'status'; readonly value: string }
  | ({ readonly kind: 'megabytes'; readonly value: string } & Unit)
  | ({ readonly kind: 'remainder'; readonly remaining: string; readonly total: string } & Unit)
);

interface Unit {
  /** null: what is behind the number, or MB. */
  readonly unit: DataUnit | null;
  /** Where the answer has the unit. */
  readonly unitValue?: string | null;
}

/** For `cardpoll init adopt`; the time zone decides the month of its audit entry. */
export interface AdoptConfig extends Pick<DaemonConfig, 'timeZone'> {
  readonly stores: ExternalStoresConfig;
}

export interface MigrateConfig {
  readonly database:
    | { readonly kind: 'postgres'; readonly databaseUrl: string }
    | { readonly kind: 'embedded'; readonly dataDir: string };
}

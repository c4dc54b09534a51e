// The shape of the configuration of `cardpoll daemon` and `cardpoll migrate`: plain, frozen data that the composition
// root passes on in parts. It follows from the settings table, section by section; load-config.ts makes it.
import type { GatewayMethod, InterfaceName } from '../domain/gateway-interface.ts';
import type { ALERTS, WEBHOOKS } from './settings/alert-settings.ts';
import type { ACCESS, API } from './settings/api-settings.ts';
import type { CLEANUP } from './settings/cleanup-settings.ts';
import type { GATEWAY } from './settings/gateway-settings.ts';
import type { INSTANCE } from './settings/instance-settings.ts';
import type { POLLING } from './settings/polling-settings.ts';
import type { Values } from './settings/setting.ts';
import type { STOPS } from './settings/stop-settings.ts';
import type { STORES } from './settings/store-settings.ts';
import type { USAGE } from './settings/usage-settings.ts';
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
  readonly interfaces: Readonly<Record<InterfaceName, GatewayInterface>>;
}

export interface GatewayInterface {
  /** GET sends the iccid as a query parameter, the others as a JSON body {"iccid": "..."}. */
  readonly method: GatewayMethod;
  /** Relative to the base URL; starts with a slash. */
  readonly path: string;
  /** The field of the answer's `data` that is read; null for calls that return no data. */
  readonly field: string | null;
}

/** For `cardpoll init adopt`; the time zone decides the month of its audit entry. */
export interface AdoptConfig extends Pick<Instance, 'timeZone'> {
  readonly stores: ExternalStoresConfig;
}

export interface MigrateConfig {
  readonly database:
    | { readonly kind: 'postgres'; readonly databaseUrl: string }
    | { readonly kind: 'embedded'; readonly dataDir: string };
}

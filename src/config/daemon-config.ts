// The types of the configuration of `cardpoll daemon` and `cardpoll migrate`: plain, frozen data that the composition root passes
// on in parts. They follow from the settings table, section by section; load-config.ts makes the values.
import type { Receivers } from '../domain/alerts/receiver.ts';
import type { GatewayConfig } from '../domain/gateway/gateway-config.ts';
import type { Proxies } from '../platform/proxy/http-proxy.ts';
import type { Values } from './settings/setting.ts';
import type { SETTINGS } from './settings/settings.ts';
import type { ClientTlsFiles, TlsFiles } from './tls-files.ts';

type Section<Name extends keyof typeof SETTINGS> = Values<(typeof SETTINGS)[Name]>;

export interface DaemonConfig extends Section<'instance'>, Section<'access'> {
  readonly stores: StoresConfig;
  /** null: plain HTTP. */
  readonly tls: TlsFiles | null;
  readonly api: Section<'api'>;
  /** From the variables that other programs also read; not a setting. */
  readonly proxies: Proxies;
  readonly gateway: GatewayConfig;
  readonly polling: Section<'polling'>;
  readonly stops: Section<'stops'>;
  readonly usage: Section<'usage'>;
  readonly alerts: Section<'alerts'>;
  readonly webhooks: Omit<Section<'webhooks'>, 'receivers'> & { readonly receivers: Receivers };
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

/** For `cardpoll init adopt`; the time zone decides the month of its audit entry. */
export interface AdoptConfig extends Pick<DaemonConfig, 'timeZone'> {
  readonly stores: ExternalStoresConfig;
}

export interface MigrateConfig {
  readonly database:
    | {
        readonly kind: 'postgres';
        readonly databaseUrl: string;
        /** Source of the URL: the name of a flag, a variable or a file. */
        readonly from: string | null;
      }
    | { readonly kind: 'embedded'; readonly dataDir: string };
}

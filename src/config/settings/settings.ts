// THE table of settings, by section. Flags, variables, YAML paths, defaults, bounds and documentation are here and in
// the files of the sections, and nowhere else; the types of the configuration follow from them (daemon-config.ts).
// reader.ts reads them; rules.ts has the rules between settings.

import { text } from '../kinds.ts';
import { ALERTS, WEBHOOKS } from './alert-settings.ts';
import { ACCESS, API, TLS } from './api-settings.ts';
import { CLEANUP } from './cleanup-settings.ts';
import { CLIENT } from './client-settings.ts';
import { GATEWAY, INTERFACE_SETTINGS } from './gateway-settings.ts';
import { INSTANCE } from './instance-settings.ts';
import { LOG_SEARCH } from './log-search-settings.ts';
import { POLLING } from './polling-settings.ts';
import { optional, type Setting } from './setting.ts';
import { STOPS } from './stop-settings.ts';
import { STORES } from './store-settings.ts';
import { USAGE } from './usage-settings.ts';

/** Path of the config file, so it has no place in the file. */
export const CONFIG_FILE = optional({
  flag: '--config',
  env: 'CARDPOLL_CONFIG',
  kind: text('path'),
  doc: 'YAML file with settings.',
  scopes: ['daemon', 'migrate', 'client'],
});

export const SETTINGS = {
  instance: INSTANCE,
  stores: STORES,
  gateway: GATEWAY,
  polling: POLLING,
  stops: STOPS,
  usage: USAGE,
  alerts: ALERTS,
  webhooks: WEBHOOKS,
  cleanup: CLEANUP,
  access: ACCESS,
  tls: TLS,
  api: API,
  client: CLIENT,
} as const;

/** Every setting, in the order documentation shows them. */
export const ALL_SETTINGS: readonly Setting<unknown>[] = [
  CONFIG_FILE,
  ...Object.values(INSTANCE),
  ...Object.values(STORES),
  ...Object.values(GATEWAY),
  ...Object.values(INTERFACE_SETTINGS).flatMap(({ method, path, field }) =>
    field === null ? [method, path] : [method, path, field],
  ),
  ...Object.values(POLLING),
  ...Object.values(STOPS),
  ...Object.values(USAGE),
  ...Object.values(ALERTS),
  ...Object.values(WEBHOOKS),
  ...Object.values(CLEANUP),
  ...Object.values(ACCESS),
  ...Object.values(TLS),
  ...Object.values(API),
  ...Object.values(LOG_SEARCH).flatMap(({ paths, fields, phrases }) => [paths, fields, phrases]),
  ...Object.values(CLIENT),
];

/** The settings that a daemon takes as flags, except the config file. */
export const DAEMON_FLAGS = ALL_SETTINGS.filter(
  (setting) => setting !== CONFIG_FILE && setting.flag !== null && setting.scopes.includes('daemon'),
);

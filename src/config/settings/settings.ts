// THE table of settings, by section. Flags, names, defaults, bounds and documentation are only here and in the files of the
// sections; the types of the configuration follow from them (daemon-config.ts). Variables and keys of the config file follow from
// the names (setting.ts). reader.ts reads them; rules.ts has the rules between settings.
import { formed, listOf, text } from '../kinds.ts';
import { ALERTS, WEBHOOKS } from './alert-settings.ts';
import { ACCESS, API, TLS } from './api-settings.ts';
import { CLEANUP } from './cleanup-settings.ts';
import { CLIENT, LOG_SEARCH, signSettings } from './command-settings.ts';
import { CREDENTIALS, GATEWAY, GATEWAY_TLS, RATE_LIMITS } from './gateway-settings.ts';
import { INSTANCE } from './instance-settings.ts';
import { POLLING, USAGE } from './polling-settings.ts';
import { ALL_INTERFACE_SETTINGS, ANSWERS, ANY_INTERFACE, AUTH, ERRORS } from './profile-settings.ts';
import { optional, type Section, type Setting, withDefault } from './setting.ts';
import { STOPS } from './stop-settings.ts';
import { STORES } from './store-settings.ts';

/** Path of the config file, so it is not allowed in the file. */
export const CONFIG_FILE: Setting<string | null> = {
  ...optional({
    flag: '--config',
    kind: text('path'),
    doc: 'YAML file with settings.',
    scopes: ['daemon', 'migrate', 'client'],
  }),
  env: 'CARDPOLL_CONFIG',
  yaml: null,
  file: null,
};

/** The secret files that systemd gives to the unit, for commands that are started manually. */
export const SECRET_FILES: Setting<readonly string[]> = {
  ...withDefault<readonly string[]>({
    kind: listOf(formed('absolute path with one * for the name of the secret', /^\/[^*]*\*[^*]*$/)),
    default: [],
    doc: 'Where to look for secrets that no flag, variable or systemd credential gives: files, with the name of the setting in place of the *. The package names the files of cardpoll.service here.',
    scopes: ['daemon', 'migrate'],
  }),
  env: 'CARDPOLL_SECRET_FILES',
  yaml: 'secret_files',
  file: null,
};

export const SETTINGS = {
  instance: INSTANCE,
  stores: STORES,
  gateway: GATEWAY,
  gatewayTls: GATEWAY_TLS,
  credentials: CREDENTIALS,
  auth: AUTH,
  answers: ANSWERS,
  errors: ERRORS,
  pace: RATE_LIMITS,
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

const inSections = (...sections: readonly Section[]) => sections.flatMap((section) => Object.values(section));

/**
 * @param interfaces the settings of the interfaces of the gateway.
 * @param signs the settings of the interfaces in the log search.
 */
const all = (
  interfaces: readonly Setting<unknown>[],
  signs: readonly Section[],
): readonly Setting<unknown>[] => {
  const { instance, stores, gateway, gatewayTls, credentials, auth, answers, errors, client, ...others } =
    SETTINGS;
  return [
    CONFIG_FILE,
    SECRET_FILES,
    ...inSections(instance, stores, gateway, gatewayTls, credentials, auth, answers, errors),
    ...interfaces,
    ...inSections(...Object.values(others)),
    ...inSections(...signs, client),
  ];
};

/** Every setting. */
export const ALL_SETTINGS = all(ALL_INTERFACE_SETTINGS, Object.values(LOG_SEARCH));

/** All settings in the order of the documents, which show the common settings of interfaces once. */
export const DOCUMENTED_SETTINGS = all(ANY_INTERFACE, [signSettings('<interface>')]);

/** The settings that a daemon takes as flags, except the config file. */
export const DAEMON_FLAGS = ALL_SETTINGS.filter(
  (setting) => setting !== CONFIG_FILE && setting.flag !== null && setting.scopes.includes('daemon'),
);

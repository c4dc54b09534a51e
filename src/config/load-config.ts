// Makes checked configurations from flags, environment and config file. Called by the commands, each for its own scope. Uses the
// settings and the configuration types; rules.ts has the rules between settings.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { InterfaceName } from '../domain/gateway-interface.ts';
import { hostAndPort } from '../platform/addresses.ts';
import { CardpollError } from '../platform/errors.ts';
import { type Context, readContexts } from './contexts.ts';
import type { AdoptConfig, DaemonConfig, MigrateConfig, StoresConfig } from './daemon-config.ts';
import { readGateway } from './gateway/load-gateway.ts';
import { readModule } from './gateway/load-module.ts';
import { readProxies } from './proxies.ts';
import { type ConfigInputs, SettingReader } from './reader.ts';
import { readReceivers } from './receivers/load-receivers.ts';
import { checkDaemonRules, checkGatewayUrl, checkStoreRules } from './rules.ts';
import { LOG_SEARCH, type SignSettings } from './settings/command-settings.ts';
import { nameOf, waysToSet } from './settings/setting.ts';
import { ALL_SETTINGS, CONFIG_FILE, SETTINGS } from './settings/settings.ts';
import { readRedisTlsFiles, readTlsFiles } from './tls-files.ts';

/** @throws CardpollError kind `config` with all problems at once. */
export async function loadDaemonConfig(inputs: ConfigInputs): Promise<DaemonConfig> {
  const reader = await SettingReader.openWithProfile(inputs);
  const config: DaemonConfig = {
    ...reader.readAll(SETTINGS.instance),
    ...reader.readAll(SETTINGS.access),
    stores: readStores(reader, inputs.env),
    tls: readTlsFiles(reader),
    api: reader.readAll(SETTINGS.api),
    proxies: readProxies(reader, inputs.env),
    gateway: readGateway(reader, await readModule(reader)),
    polling: reader.readAll(SETTINGS.polling),
    usage: reader.readAll(SETTINGS.usage),
    alerts: reader.readAll(SETTINGS.alerts),
    webhooks: { ...reader.readAll(SETTINGS.webhooks), receivers: await readReceivers(reader) },
    stops: reader.readAll(SETTINGS.stops),
    cleanup: reader.readAll(SETTINGS.cleanup),
  };
  checkDaemonRules(reader, config);
  return reader.finish(config);
}

/** The gateway of a daemon, for `cardpoll gateway try`. @throws CardpollError kind `config` with all problems at once. */
export async function loadGatewayConfig(
  inputs: ConfigInputs,
): Promise<Pick<DaemonConfig, 'gateway' | 'proxies' | 'timeZone'>> {
  const reader = await SettingReader.openWithProfile(inputs);
  const config = {
    gateway: readGateway(reader, await readModule(reader)),
    proxies: readProxies(reader, inputs.env),
    timeZone: reader.read(SETTINGS.instance.timeZone),
  };
  checkGatewayUrl(reader);
  return reader.finish(config);
}

/**
 * Only the database matters here; a Redis URL is neither required nor refused. Embedded stores that no daemon has created are not
 * meant by an operator who names no database, least of all by one who works with the daemon of a context.
 */
export async function loadMigrateConfig(inputs: ConfigInputs): Promise<MigrateConfig> {
  const reader = await SettingReader.open(inputs);
  const { databaseUrl: url, dataDir: directory } = SETTINGS.stores;
  const databaseUrl = reader.read(url);
  const dataDir = reader.read(directory) ?? defaultDataDir(inputs.env);
  const config = reader.finish<MigrateConfig>({
    database:
      databaseUrl === null
        ? { kind: 'embedded', dataDir }
        : { kind: 'postgres', databaseUrl, from: reader.originOf(url) },
  });
  if (databaseUrl !== null || reader.isSet(directory) || reader.isSet(CONFIG_FILE)) return config;
  const context = await currentContext(inputs.env);
  if (context === null && existsSync(dataDir)) return config;
  const why =
    context === null
      ? `there are no embedded stores in ${dataDir}`
      : `context ${context.name} has a daemon's URL, not its database`;
  throw new CardpollError('config', 'no_database', `no database is given, and ${why}`, {
    hint: 'give --config or --database-url; for embedded stores --data-dir',
  });
}

/** The external stores, for `cardpoll init adopt`; embedded stores cannot be adopted. */
export async function loadAdoptConfig(inputs: ConfigInputs): Promise<AdoptConfig> {
  const reader = await SettingReader.open(inputs);
  const config = {
    stores: readStores(reader, inputs.env),
    timeZone: reader.read(SETTINGS.instance.timeZone),
  };
  checkStoreRules(reader);
  const { stores, timeZone } = reader.finish(config);
  if (stores.kind === 'external') return { stores, timeZone };
  const ways = `${waysToSet(SETTINGS.stores.redisUrl)}, and the database URL`;
  throw new CardpollError('config', 'no_redis', 'no Redis to adopt: none is configured', {
    hint: `give ${ways}`,
  });
}

/** A secret, or a URL that may contain one, and its source: the name of a flag, a variable or a file. */
interface SecretOrigin {
  readonly name: string;
  readonly from: string;
}

/** The secrets that a command gets from `secret_files`. */
export async function loadSecretOrigins(inputs: ConfigInputs): Promise<SecretOrigin[]> {
  const reader = await SettingReader.open(inputs);
  return ALL_SETTINGS.flatMap((setting) => {
    const from = setting.file === null ? null : reader.originOf(setting);
    return from?.startsWith('secret_files ') ? [{ name: nameOf(setting), from }] : [];
  });
}

/** The configuration of every command that talks to a daemon's API. */
export interface ClientConfig {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Name of the context with the URL; null: the URL comes from another source. */
  readonly context: string | null;
  readonly token: string | null;
  /** Source of the token: `CARDPOLL_TOKEN`, `--token-file (/path)`; null: no token. */
  readonly tokenFrom: string | null;
  /** Where the context stores the token; null: the token comes from another source, or there is none. */
  readonly contextTokenFile: string | null;
  /** Time limit for one answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** @throws CardpollError with all problems at once: kind `config`, `usage` for flags, `input_missing` for a token file. */
export async function loadClientConfig(inputs: ConfigInputs): Promise<ClientConfig> {
  const reader = await SettingReader.open(inputs);
  // The token of a context is sent to its own daemon only, never to one that --url or CARDPOLL_URL names.
  const context = reader.isSet(SETTINGS.client.url) ? null : await currentContext(inputs.env);
  const { token, timeoutMs } = SETTINGS.client;
  const tokenFile = reader.isSet(token) ? null : (context?.tokenFile ?? null);
  const ofContext = `context ${context?.name}`;
  return reader.finish({
    url: context?.url ?? daemonUrl(reader),
    context: context?.name ?? null,
    token: tokenFile === null ? reader.read(token) : reader.readFile(token, tokenFile, ofContext),
    tokenFrom: tokenFile === null ? reader.originOf(token) : `${ofContext} (${tokenFile})`,
    contextTokenFile: tokenFile,
    timeoutMs: reader.read(timeoutMs),
  });
}

/** The URL of a command without one: the address on which the daemon with the same configuration listens. */
function daemonUrl(reader: SettingReader): string {
  const { listen } = SETTINGS.instance;
  if (reader.isSet(SETTINGS.client.url) || !reader.isSet(listen)) return reader.read(SETTINGS.client.url);
  const { host, port } = reader.read(listen);
  const scheme = reader.isSet(SETTINGS.tls.cert) ? 'https' : 'http';
  return `${scheme}://${hostAndPort(ownAddress(host), port)}`;
}

/** An address for all interfaces cannot be called on every system; the loopback address of the same family can. */
function ownAddress(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

async function currentContext(env: ConfigInputs['env']): Promise<Context | null> {
  const { current, all } = await readContexts(env);
  return all.find(({ name }) => name === current) ?? null;
}

/** The zone of typed times; null: none is configured. @throws CardpollError kind `config`. */
export async function loadTimeZone(inputs: ConfigInputs): Promise<string | null> {
  const reader = await SettingReader.open(inputs);
  return reader.finish(timeZoneSet(reader));
}

function timeZoneSet(reader: SettingReader): string | null {
  const { timeZone } = SETTINGS.instance;
  return reader.isSet(timeZone) ? reader.read(timeZone) : null;
}

/** The part of the configuration that `cardpoll logs` uses. */
export interface LogsConfig {
  /** The daemon's log directory; null: it logs to standard output. */
  readonly logDir: string | null;
  /** null: none is configured. */
  readonly timeZone: string | null;
  /** Additional signs that a line belongs to an interface. */
  readonly interfaces: Readonly<Partial<Record<InterfaceName, SignsConfig>>>;
}

type SignsConfig = { readonly [Name in keyof SignSettings]?: readonly string[] };

/** @throws CardpollError kind `config`. */
export async function loadLogsConfig(inputs: ConfigInputs): Promise<LogsConfig> {
  const reader = await SettingReader.open(inputs);
  const interfaces = Object.entries(LOG_SEARCH)
    .map(([name, settings]) => [name, readSigns(reader, settings)] as const)
    .filter(([, signs]) => Object.keys(signs).length > 0);
  return reader.finish({
    logDir: reader.read(SETTINGS.instance.logDir),
    timeZone: timeZoneSet(reader),
    interfaces: Object.fromEntries(interfaces),
  });
}

function readSigns(reader: SettingReader, settings: SignSettings): SignsConfig {
  const given = Object.entries(reader.readAll(settings)).filter(([, signs]) => signs !== null);
  return Object.fromEntries(given);
}

function readStores(reader: SettingReader, env: ConfigInputs['env']): StoresConfig {
  const { redisUrl, redisSentinelPassword, databaseUrl, databaseMaxConnections, dataDir } = reader.readAll(
    SETTINGS.stores,
  );
  const redisTls = readRedisTlsFiles(reader);
  return redisUrl !== null && databaseUrl !== null
    ? { kind: 'external', redisUrl, redisTls, redisSentinelPassword, databaseUrl, databaseMaxConnections }
    : { kind: 'embedded', dataDir: dataDir ?? defaultDataDir(env) };
}

/** The state directory of this user's programs, by the XDG base directory specification. */
export function stateHome(env: NodeJS.ProcessEnv): string {
  return env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
}

function defaultDataDir(env: ConfigInputs['env']): string {
  return join(stateHome(env), 'cardpoll');
}

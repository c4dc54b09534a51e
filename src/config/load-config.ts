// Makes checked configurations out of flags, environment and config file. Called by the commands, each for its own
// scope. Knows the settings and the shapes; the rules between settings are rules.ts.
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { INTERFACE_NAMES, type InterfaceName } from '../domain/gateway-interface.ts';
import type { ClientConfig } from './client-config.ts';
import { type Context, readContexts } from './contexts.ts';
import type {
  DaemonConfig,
  GatewayConfig,
  GatewayInterfaceConfig,
  MigrateConfig,
  StoresConfig,
} from './daemon-config.ts';
import { INTERFACE_SETTINGS, type InterfaceSettings } from './gateway-interfaces.ts';
import { LOG_SEARCH, type SignSettings } from './log-search-settings.ts';
import { type ConfigInputs, SettingReader } from './reader.ts';
import { checkDaemonRules } from './rules.ts';
import { SETTINGS } from './settings.ts';
import { readTlsFiles } from './tls-files.ts';

/** Throws CardpollError kind `config` with all problems at once. */
export async function loadDaemonConfig(inputs: ConfigInputs): Promise<DaemonConfig> {
  const reader = await SettingReader.open(inputs);
  const config: DaemonConfig = {
    listen: reader.read(SETTINGS.listen),
    probeListen: reader.read(SETTINGS.probeListen),
    roles: reader.read(SETTINGS.roles),
    processes: readProcesses(reader),
    stores: readStores(reader, inputs.env),
    databaseMaxConnections: reader.read(SETTINGS.databaseMaxConnections),
    timeZone: reader.read(SETTINGS.timeZone),
    logDir: reader.read(SETTINGS.logDir),
    logLevel: reader.read(SETTINGS.logLevel),
    adminTokens: reader.read(SETTINGS.adminTokens) ?? [],
    rateLimitPerMinute: reader.read(SETTINGS.rateLimitPerMinute),
    refusalLimitPerMinute: reader.read(SETTINGS.refusalLimitPerMinute),
    tls: readTlsFiles(reader),
    http: {
      trustedProxies: reader.read(SETTINGS.trustedProxies) ?? [],
      maxConnections: reader.read(SETTINGS.maxConnections),
      headerTimeoutMs: reader.read(SETTINGS.headerTimeoutMs),
      bodyTimeoutMs: reader.read(SETTINGS.bodyTimeoutMs),
      idleTimeoutMs: reader.read(SETTINGS.idleTimeoutMs),
      drainDelayMs: reader.read(SETTINGS.drainDelayMs),
      maxOpenTriggers: reader.read(SETTINGS.maxOpenTriggers),
      maxAlertRules: reader.read(SETTINGS.maxAlertRules),
    },
    gateway: readGateway(reader),
    polling: {
      leaseMs: reader.read(SETTINGS.leaseMs),
      claimBatch: reader.read(SETTINGS.claimBatch),
      queueCap: reader.read(SETTINGS.queueCap),
      adaptiveConcurrency: reader.read(SETTINGS.adaptiveConcurrency),
      gatewayMaxConcurrency: reader.read(SETTINGS.gatewayMaxConcurrency),
      writeBuffer: reader.read(SETTINGS.writeBuffer),
      retryBaseMs: reader.read(SETTINGS.retryBaseMs),
      cardCacheTtlSeconds: reader.read(SETTINGS.cardCacheTtlSeconds),
      initBatch: reader.read(SETTINGS.initBatch),
      initPauseMs: reader.read(SETTINGS.initPauseMs),
      drainTimeoutMs: reader.read(SETTINGS.drainTimeoutMs),
    },
    alerts: { intervalMs: reader.read(SETTINGS.alertIntervalMs) },
    webhooks: {
      allowCidrs: reader.read(SETTINGS.webhookAllowCidrs) ?? [],
      secrets: reader.read(SETTINGS.webhookSecrets) ?? [],
    },
    cleanup: {
      schedule: reader.read(SETTINGS.cleanupSchedule),
      pauseMs: reader.read(SETTINGS.cleanupPauseMs),
    },
  };
  checkDaemonRules(reader, config);
  reader.finish();
  return deepFreeze(config);
}

/** Only the database matters here; a Redis URL beside it is neither needed nor wrong. */
export async function loadMigrateConfig(inputs: ConfigInputs): Promise<MigrateConfig> {
  const reader = await SettingReader.open(inputs);
  const databaseUrl = reader.read(SETTINGS.databaseUrl);
  const dataDir = reader.read(SETTINGS.dataDir) ?? defaultDataDir(inputs.env);
  reader.finish();
  return deepFreeze({
    database: databaseUrl === null ? { kind: 'embedded', dataDir } : { kind: 'postgres', databaseUrl },
  });
}

/** Throws CardpollError with all problems at once: kind `config`, `usage` for flags, `input_missing` for a token file. */
export async function loadClientConfig(inputs: ConfigInputs): Promise<ClientConfig> {
  const reader = await SettingReader.open(inputs);
  // The token of a context is shown to its daemon only, never to one that --url or CARDPOLL_URL names.
  const context = reader.isSet(SETTINGS.clientUrl) ? null : await currentContext(inputs.env);
  const config = {
    url: context?.url ?? reader.read(SETTINGS.clientUrl),
    context: context?.name ?? null,
    token: reader.read(SETTINGS.clientToken) ?? readTokenFile(reader, context),
    timeoutMs: reader.read(SETTINGS.clientTimeoutMs),
  };
  reader.finish();
  return Object.freeze(config);
}

async function currentContext(env: ConfigInputs['env']): Promise<Context | null> {
  const { current, all } = await readContexts(env);
  return all.find(({ name }) => name === current) ?? null;
}

function readTokenFile(reader: SettingReader, context: Context | null): string | null {
  if (context === null || context.tokenFile === null || reader.isSet(SETTINGS.clientToken)) return null;
  return reader.readFile(SETTINGS.clientToken, context.tokenFile, `context ${context.name}`);
}

/** What `cardpoll logs` takes from the configuration. */
export interface LogsConfig {
  /** Where the daemon logs to; null: standard output. */
  readonly logDir: string | null;
  /** By what else a line belongs to an interface. */
  readonly interfaces: Readonly<Partial<Record<InterfaceName, SignsConfig>>>;
}

interface SignsConfig {
  readonly paths?: readonly string[];
  readonly fields?: readonly string[];
  readonly phrases?: readonly string[];
}

/** Throws CardpollError kind `config`. */
export async function loadLogsConfig(inputs: ConfigInputs): Promise<LogsConfig> {
  const reader = await SettingReader.open(inputs);
  const interfaces = Object.entries(LOG_SEARCH)
    .map(([name, settings]) => [name, readSigns(reader, settings)] as const)
    .filter(([, signs]) => Object.keys(signs).length > 0);
  const config = { logDir: reader.read(SETTINGS.logDir), interfaces: Object.fromEntries(interfaces) };
  reader.finish();
  return config;
}

function readSigns(reader: SettingReader, { paths, fields, phrases }: SignSettings): SignsConfig {
  return {
    ...given('paths', reader.read(paths)),
    ...given('fields', reader.read(fields)),
    ...given('phrases', reader.read(phrases)),
  };
}

function readProcesses(reader: SettingReader): number {
  const processes = reader.read(SETTINGS.processes);
  return processes === 'auto' ? availableParallelism() : processes;
}

function readStores(reader: SettingReader, env: ConfigInputs['env']): StoresConfig {
  const redisUrl = reader.read(SETTINGS.redisUrl);
  const databaseUrl = reader.read(SETTINGS.databaseUrl);
  const dataDir = reader.read(SETTINGS.dataDir) ?? defaultDataDir(env);
  return redisUrl !== null && databaseUrl !== null
    ? { kind: 'external', redisUrl, databaseUrl }
    : { kind: 'embedded', dataDir };
}

function defaultDataDir(env: ConfigInputs['env']): string {
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'cardpoll');
}

function readGateway(reader: SettingReader): GatewayConfig {
  const interfaces = INTERFACE_NAMES.map(
    (name) => [name, readInterface(reader, INTERFACE_SETTINGS[name])] as const,
  ).filter(([, call]) => Object.keys(call).length > 0);
  return {
    // The rules refuse a missing URL before anybody sees this.
    url: reader.read(SETTINGS.gatewayUrl) ?? '',
    timeoutMs: reader.read(SETTINGS.gatewayTimeoutMs),
    maxConnections: reader.read(SETTINGS.gatewayMaxConnections),
    ...given('maxResponseBytes', reader.read(SETTINGS.gatewayMaxResponseBytes)),
    ...given('maxRetryAfterSeconds', reader.read(SETTINGS.gatewayMaxRetryAfterSeconds)),
    ...given('stoppedStatuses', reader.read(SETTINGS.gatewayStoppedStatuses)),
    ...given('token', reader.read(SETTINGS.gatewayToken)),
    ...given('hmacKey', reader.read(SETTINGS.gatewayHmacKey)),
    interfaces: Object.fromEntries(interfaces),
  };
}

function readInterface(reader: SettingReader, settings: InterfaceSettings): GatewayInterfaceConfig {
  return {
    ...given('method', reader.read(settings.method)),
    ...given('path', reader.read(settings.path)),
    ...given('field', settings.field === null ? null : reader.read(settings.field)),
  };
}

function given<K extends string, V>(key: K, value: V | null): { [P in K]?: V } {
  return value === null ? {} : ({ [key]: value } as { [P in K]: V });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

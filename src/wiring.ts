// THE composition root: configuration -> logs -> stores -> gateway -> engine -> operations -> API, torn down in the
// reverse order. main.ts calls the run functions, demo.ts puts a demo around the daemon; nobody else builds anything long-lived.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessSettings } from './api/access.ts';
import { openProbeServer } from './api/probe-server.ts';
import { type ApiServer, openApiServer, type ServerBounds } from './api/server.ts';
import type { Listening, MigrateAction, SimulatorOptions } from './cli/launchers.ts';
import { VERSION } from './cli/version.ts';
import type { DaemonConfig, MigrateConfig } from './config/daemon-config.ts';
import { USUAL_PROBE_LISTEN } from './config/instance-settings.ts';
import { Engine } from './engine/engine.ts';
import { ErrorReporter } from './engine/error-reporter.ts';
import { openGatewayClient } from './gateway/client.ts';
import { GatewayFlow } from './gateway/flow-control.ts';
import { GuardedGateway } from './gateway/guarded-gateway.ts';
import { gatewayProfile } from './gateway/profile.ts';
import { startSimulator } from './gateway/simulator.ts';
import { HealthWatch } from './operations/health-watch.ts';
import { openOperations } from './operations/operations.ts';
import type { StatsOperations } from './operations/stats.ts';
import { systemClock } from './platform/clock.ts';
import { type Logger, type Logs, openLogs } from './platform/logger.ts';
import { Teardown } from './platform/service.ts';
import { SsrfGuard } from './platform/ssrf-guard.ts';
import { type LiveSettings, Reloader } from './reload.ts';
import { type Hangups, onSignal, untilStopped } from './signals.ts';
import { openEmbeddedLiveStore } from './store/embedded/live-store.ts';
import { openEmbeddedRecordStore } from './store/embedded/pglite-record-store.ts';
import type { LiveStore } from './store/live-store.ts';
import { MIGRATIONS } from './store/postgres/migration-list.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { APPLICATION_NAME } from './store/postgres/sql-record-store.ts';
import type { MigrationState, RecordStore } from './store/record-store.ts';
import { openRedisLiveStore } from './store/redis/live-store.ts';
import type { Condition, Overseer } from './supervision/condition.ts';

/** What ending takes beside the drain: signing off, requests under way, logs, stores. */
const TEARDOWN_MS = 30_000;

/** Runs the daemon until SIGTERM or SIGINT, then drains. @returns the exit code. */
export function runDaemon(config: DaemonConfig, surroundings: Surroundings): Promise<number> {
  return run((teardown) => startDaemon(config, teardown, { prepare: async () => {}, ...surroundings }));
}

/** `cardpoll gateway simulate`: serves until SIGTERM or SIGINT. */
export function runSimulator(options: SimulatorOptions, listening: Listening): Promise<number> {
  return run(async (teardown) => {
    const { listen, ...behaviour } = options;
    const simulator = await startSimulator({ host: listen.host, port: listen.port, ...behaviour });
    teardown.add(() => simulator.close());
    listening(simulator.url);
  });
}

/**
 * Starts something, waits for the signal to end and takes it down again. A second signal ends the process at once.
 * @param stop ends it too.
 */
export async function run(start: (teardown: Teardown) => Promise<void>, stop?: AbortSignal): Promise<number> {
  const stopSignal = Promise.race([untilStopped(), aborted(stop)]);
  const teardown = new Teardown();
  // SIGUSR1 would open Node's inspector on a port of its own.
  teardown.add(onSignal('SIGUSR1', () => {}));
  try {
    await start(teardown);
    await stopSignal;
  } finally {
    await teardown.run();
  }
  return 0;
}

/** Resolves when the signal is aborted; never without one. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What a daemon has to do with outside of its configuration. */
export interface Surroundings {
  /** Reads the configuration anew, for SIGHUP. */
  readonly load: () => Promise<DaemonConfig>;
  readonly listening: Listening;
  readonly hangups: Hangups;
  /** Who supervises this process; null: nobody. */
  readonly overseer: Overseer | null;
}

interface DaemonHooks extends Surroundings {
  /** Runs before anything reads the records. */
  readonly prepare: (records: RecordStore) => Promise<void>;
}

/** Starts a daemon; everything it opens is taken down by `teardown`. */
export async function startDaemon(
  config: DaemonConfig,
  teardown: Teardown,
  { prepare, load, listening, hangups, overseer }: DaemonHooks,
): Promise<void> {
  const logs = openLogs({ dir: config.logDir, level: config.logLevel });
  teardown.add(() => logs.close());
  let server: ApiServer | null = null;
  const reloader = new Reloader({
    config,
    load,
    apply: (settings) => {
      server?.replaceTls(settings.tls);
      server?.replaceAccess(accessOf(settings));
      logs.setLevel(settings.logLevel);
    },
    log: logs.worker,
  });
  const reload = () => {
    logs.reopen();
    return reloader.reload();
  };
  teardown.add(hangups.handle(() => void (overseer === null ? reload() : overseer.reload(reload))));
  const stores = await openStores(config, logs.worker, teardown);
  const applied = await stores.records.migrations.up();
  if (applied.length > 0) logs.worker.info({ applied }, 'database migrations applied');
  await prepare(stores.records);
  const engine = buildEngine(config, stores, logs, teardown, () => server?.address ?? null);
  // The server opens before the engine starts and closes after it has drained: readyz tells both phases.
  server = await startServer(config, stores, engine, logs, teardown);
  listening(server.url);
  teardown.add(async () => {
    // From here on readyz says that the instance stops.
    const noticed = sleep(config.http.drainDelayMs);
    await engine.stop();
    await noticed;
  });
  await engine.start();
  overseer?.watch(() => conditionOf(engine));
  teardown.add(() =>
    overseer?.stopping(Math.max(config.polling.drainTimeoutMs, config.http.drainDelayMs) + TEARDOWN_MS),
  );
}

function conditionOf(engine: Engine): Condition {
  const problems = engine.problems();
  const [first = 'works'] = [...problems, ...engine.restraints()];
  return { problems, stuck: engine.stuck(), status: engine.leads ? `${first}; leads the fleet` : first };
}

interface Stores {
  readonly live: LiveStore;
  readonly records: RecordStore;
}

async function openStores(config: DaemonConfig, log: Logger, teardown: Teardown): Promise<Stores> {
  const { stores } = config;
  const records =
    stores.kind === 'external'
      ? await openPostgresRecordStore({
          url: stores.databaseUrl,
          applicationName: APPLICATION_NAME,
          maxConnections: config.databaseMaxConnections,
        })
      : await openEmbedded(stores.dataDir);
  teardown.add(() => records.close());
  const live =
    stores.kind === 'external'
      ? await openRedisLiveStore({ url: stores.redisUrl, log })
      : openEmbeddedLiveStore({ clock: systemClock });
  teardown.add(() => live.close());
  return { live, records };
}

function openEmbedded(dataDir: string): Promise<RecordStore> {
  return openEmbeddedRecordStore({ dataDir, workerUrl: new URL('./pglite-worker.js', import.meta.url) });
}

function buildEngine(
  config: DaemonConfig,
  stores: Stores,
  logs: Logs,
  teardown: Teardown,
  probeAddress: () => string | null,
): Engine {
  const { polling } = config;
  const guard = new SsrfGuard(config.webhooks.allowCidrs);
  const client = openGatewayClient(gatewayProfile(config.gateway), { log: logs.worker, clock: systemClock });
  teardown.add(() => client.close());
  const flow = new GatewayFlow({
    clock: systemClock,
    random: Math.random,
    onChange: (name, state, reason) =>
      logs.worker.warn({ interface: name, state, reason }, 'gateway breaker'),
  });
  const gateway = new GuardedGateway(client, flow);
  return new Engine(
    {
      workerId: `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`,
      hostname: hostname(),
      pid: process.pid,
      version: VERSION,
      roles: config.roles,
      timeZone: config.timeZone,
      leaseMs: polling.leaseMs,
      claimBatch: polling.claimBatch,
      queueCap: polling.queueCap,
      adaptiveConcurrency: polling.adaptiveConcurrency,
      gatewayMaxConcurrency: polling.gatewayMaxConcurrency,
      writeBuffer: polling.writeBuffer,
      retryBaseMs: polling.retryBaseMs,
      cardCacheTtlMs: polling.cardCacheTtlSeconds * 1000,
      initBatchCards: polling.initBatch,
      initPauseMs: polling.initPauseMs,
      drainTimeoutMs: polling.drainTimeoutMs,
      alertIntervalMs: config.alerts.intervalMs,
      webhookSecret: config.webhooks.secret,
      cleanupSchedule: config.cleanup.schedule,
      cleanupPauseMs: config.cleanup.pauseMs,
    },
    {
      ...stores,
      gateway,
      probeAddress,
      flow,
      guard,
      clock: systemClock,
      random: Math.random,
      log: logs.worker,
    },
  );
}

/** The admin API, or where another instance serves it, probes and metrics alone. */
async function startServer(
  config: DaemonConfig,
  stores: Stores,
  engine: Engine,
  logs: Logs,
  teardown: Teardown,
): Promise<ApiServer> {
  const servesApi = config.roles.includes('api');
  const operations = openOperations({
    ...stores,
    clock: systemClock,
    timeZone: config.timeZone,
    version: VERSION,
    guard: new SsrfGuard(config.webhooks.allowCidrs),
    auditLog: logs.audit,
    limits: config.http,
    exactTotals: servesApi,
  });
  const options = {
    logs,
    readiness: async () => ({ problems: engine.problems(), restraints: engine.restraints() }),
    instance: () => ({ leads: engine.leads, droppedLogLines: logs.droppedLines }),
    version: VERSION,
  };
  const http = { ...accessOf(config), tls: config.tls, bounds: boundsOf(config) };
  const { ports, ...usual } = USUAL_PROBE_LISTEN;
  const server = servesApi
    ? await openApiServer({ ...options, config: { ...config.listen, ...http }, operations })
    : await openProbeServer({
        ...options,
        config: { ...(config.probeListen ?? usual), ...http },
        addressFlag: '--probe-listen',
        ports: config.probeListen === null ? ports : 1,
        operations,
      });
  teardown.add(() => server.close());
  if (servesApi) await watchHealth(operations.stats, stores.live, logs.api, teardown);
  logs.api.info({ address: server.address }, servesApi ? 'admin API listens' : 'probes and metrics listen');
  return server;
}

async function watchHealth(
  stats: StatsOperations,
  { health }: LiveStore,
  log: Logger,
  teardown: Teardown,
): Promise<void> {
  const onError = new ErrorReporter(log, systemClock).for('health-watch');
  const watch = new HealthWatch({ stats, health, onError });
  teardown.add(() => watch.stop());
  await watch.start();
}

function accessOf({ adminTokens, rateLimitPerMinute, refusalLimitPerMinute }: LiveSettings): AccessSettings {
  return { tokens: adminTokens, rateLimitPerMinute, refusalLimitPerMinute };
}

function boundsOf({ http }: DaemonConfig): ServerBounds {
  return {
    ...http,
    trustedProxies: http.trustedProxies.map(({ address, prefix }) => `${address}/${prefix}`),
  };
}

export interface MigrateResult {
  readonly applied: readonly string[];
  readonly migrations: readonly MigrationState[];
}

/** `cardpoll migrate`: opens the record store alone. @returns every migration, and the ids applied now. */
export async function runMigrate(config: MigrateConfig, action: MigrateAction): Promise<MigrateResult> {
  const { database } = config;
  // Opening an embedded database creates it: a question must not.
  if (
    action === 'status' &&
    database.kind === 'embedded' &&
    !existsSync(join(database.dataDir, 'PG_VERSION'))
  ) {
    return { applied: [], migrations: MIGRATIONS.map(({ id }) => ({ id, appliedAtMs: null })) };
  }
  const records =
    database.kind === 'postgres'
      ? await openPostgresRecordStore({ url: database.databaseUrl, applicationName: APPLICATION_NAME })
      : await openEmbedded(database.dataDir);
  try {
    const applied = action === 'up' ? await records.migrations.up() : [];
    return { applied, migrations: await records.migrations.status() };
  } finally {
    await records.close();
  }
}

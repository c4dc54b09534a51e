// THE composition root: configuration -> logs -> stores -> gateway -> engine -> operations -> API, torn down in the
// reverse order. main.ts calls the four run functions; nobody else builds anything long-lived.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessSettings } from './api/access.ts';
import { openProbeServer } from './api/probe-server.ts';
import { type ApiServer, openApiServer } from './api/server.ts';
import type { DemoOptions, Listening, MigrateAction, SimulatorOptions } from './cli/launchers.ts';
import { VERSION } from './cli/version.ts';
import type { DaemonConfig, MigrateConfig } from './config/daemon-config.ts';
import { USUAL_PROBE_LISTEN } from './config/instance-settings.ts';
import { loadDaemonConfig } from './config/load-config.ts';
import type { CardImport } from './domain/card.ts';
import { Engine } from './engine/engine.ts';
import { openGatewayClient } from './gateway/client.ts';
import { demoCards } from './gateway/demo-fleet.ts';
import { GatewayFlow } from './gateway/flow-control.ts';
import { GuardedGateway } from './gateway/guarded-gateway.ts';
import { gatewayProfile } from './gateway/profile.ts';
import { startSimulator } from './gateway/simulator.ts';
import { openOperations } from './operations/operations.ts';
import { systemClock } from './platform/clock.ts';
import { type Logger, type Logs, openLogs } from './platform/logger.ts';
import { Teardown } from './platform/service.ts';
import { SsrfGuard } from './platform/ssrf-guard.ts';
import { type LiveSettings, Reloader } from './reload.ts';
import { onSignal, untilStopped } from './signals.ts';
import { openEmbeddedLiveStore } from './store/embedded/live-store.ts';
import { openEmbeddedRecordStore } from './store/embedded/pglite-record-store.ts';
import type { LiveStore } from './store/live-store.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { APPLICATION_NAME } from './store/postgres/sql-record-store.ts';
import type { MigrationState, RecordStore } from './store/record-store.ts';
import { openRedisLiveStore } from './store/redis/live-store.ts';

/** What the demo's gateway takes for an answer: enough to see calls in flight. */
const DEMO_LATENCY_MS = 20;
const IMPORT_CHUNK_CARDS = 10_000;

/**
 * Runs the daemon until SIGTERM or SIGINT, then drains.
 * @param load reads the configuration anew, for SIGHUP.
 * @returns the exit code.
 */
export function runDaemon(config: DaemonConfig, load: () => Promise<DaemonConfig>): Promise<number> {
  return run(async (teardown) => {
    await startDaemon(config, teardown, { prepare: async () => {}, load, listening: () => {} });
  });
}

/** The daemon with a fleet and a gateway of its own: embedded stores, simulated gateway. Needs nothing installed. */
export function runDemo(options: DemoOptions, listening: Listening): Promise<number> {
  return run(async (teardown) => {
    const simulator = await startSimulator({
      host: '127.0.0.1',
      port: 0,
      cards: options.cards,
      latencyMs: DEMO_LATENCY_MS,
    });
    teardown.add(() => simulator.close());
    const logDir = await mkdtemp(join(tmpdir(), 'cardpoll-demo-'));
    teardown.add(() => rm(logDir, { recursive: true, force: true }));
    const flags = { '--gateway-url': simulator.url, '--data-dir': options.dataDir, '--log-dir': logDir };
    const config = { ...(await loadDaemonConfig({ flags, env: {} })), listen: options.listen };
    const prepare = (records: RecordStore) => importDemoFleet(records, options.cards);
    await startDaemon(config, teardown, { prepare, load: async () => config, listening });
  }, options.stop);
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
async function run(start: (teardown: Teardown) => Promise<void>, stop?: AbortSignal): Promise<number> {
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

interface DaemonHooks {
  /** Runs before anything reads the records. */
  readonly prepare: (records: RecordStore) => Promise<void>;
  /** Reads the configuration anew. */
  readonly load: () => Promise<DaemonConfig>;
  readonly listening: Listening;
}

async function startDaemon(
  config: DaemonConfig,
  teardown: Teardown,
  { prepare, load, listening }: DaemonHooks,
): Promise<void> {
  const logs = openLogs({ dir: config.logDir, level: config.logLevel });
  teardown.add(() => logs.close());
  let server: ApiServer | null = null;
  const reloader = new Reloader({
    config,
    load,
    apply: (settings) => {
      server?.replaceAccess(accessOf(settings));
      logs.setLevel(settings.logLevel);
    },
    log: logs.worker,
  });
  teardown.add(
    onSignal('SIGHUP', () => {
      logs.reopen();
      void reloader.reload();
    }),
  );
  const stores = await openStores(config, logs.worker, teardown);
  const applied = await stores.records.migrations.up();
  if (applied.length > 0) logs.worker.info({ applied }, 'database migrations applied');
  await prepare(stores.records);
  const engine = buildEngine(config, stores, logs, teardown, () => server?.address ?? null);
  // The server opens before the engine starts and closes after it has drained: readyz tells both phases.
  server = await startServer(config, stores, engine, logs, teardown);
  listening(`http://${server.address}`);
  teardown.add(() => engine.stop());
  await engine.start();
}

async function importDemoFleet(records: RecordStore, count: number): Promise<void> {
  const session = await records.cards.openImport();
  try {
    const chunk: CardImport[] = [];
    for (const card of demoCards(count)) {
      chunk.push(card);
      if (chunk.length === IMPORT_CHUNK_CARDS) await session.write(chunk.splice(0));
    }
    if (chunk.length > 0) await session.write(chunk);
  } finally {
    await session.close();
  }
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
    exactTotals: servesApi,
  });
  const options = {
    logs,
    readiness: async () => ({ problems: engine.problems(), restraints: engine.restraints() }),
    instance: () => ({ leads: engine.leads, droppedLogLines: logs.droppedLines }),
    version: VERSION,
  };
  const access = accessOf(config);
  const { ports, ...usual } = USUAL_PROBE_LISTEN;
  const server = servesApi
    ? await openApiServer({ ...options, config: { ...config.listen, ...access }, operations })
    : await openProbeServer({
        ...options,
        config: { ...(config.probeListen ?? usual), ...access },
        addressFlag: '--probe-listen',
        ports: config.probeListen === null ? ports : 1,
        operations,
      });
  teardown.add(() => server.close());
  logs.api.info({ address: server.address }, servesApi ? 'admin API listens' : 'probes and metrics listen');
  return server;
}

function accessOf({ adminTokens, rateLimitPerMinute }: LiveSettings): AccessSettings {
  return { tokens: adminTokens, rateLimitPerMinute };
}

export interface MigrateResult {
  readonly applied: readonly string[];
  readonly migrations: readonly MigrationState[];
}

/** `cardpoll migrate`: opens the record store alone. @returns every migration, and the ids applied now. */
export async function runMigrate(config: MigrateConfig, action: MigrateAction): Promise<MigrateResult> {
  const { database } = config;
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

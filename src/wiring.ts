// THE composition root: configuration -> logs -> stores -> health -> operations -> gateway -> engine -> API, torn down in the
// reverse order. main.ts calls the run functions, demo.ts puts a demo around the daemon; no other file builds anything long-lived.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Instruments } from './api/metrics/instruments.ts';
import type { ApiServer } from './api/server.ts';
import type { DaemonListening } from './cli/launchers.ts';
import type { DaemonConfig } from './config/daemon-config.ts';
import { MonthCalendar } from './domain/cards/month-calendar.ts';
import { gatewayFactsOf } from './domain/gateway/gateway-config.ts';
import { instanceIdOf } from './domain/instance-id.ts';
import { AuditDigest } from './engine/audit-digest.ts';
import { Engine } from './engine/engine.ts';
import type { EngineDeps } from './engine/engine-settings.ts';
import { callPaceOf } from './engine/limits/call-pace.ts';
import { OwnLoad } from './engine/stats/own-load.ts';
import { GatewayClient } from './gateway/call/client.ts';
import { FlowControlledGateway } from './gateway/flow/flow-control.ts';
import type { FleetHealth } from './health/fleet-health.ts';
import { Presence } from './health/presence.ts';
import type { Audit } from './operations/audit.ts';
import { MAX_OPEN_CONDITION_TRIGGERS } from './operations/deps.ts';
import type { Stores } from './operations/doctor/examine.ts';
import { type Operations, openOperations } from './operations/operations.ts';
import { systemClock, withTimeout } from './platform/clock.ts';
import type { CardpollError } from './platform/errors.ts';
import { type Logger, type Logs, openLogs } from './platform/logger.ts';
import { ErrorReporter } from './platform/loop.ts';
import type { Teardown } from './platform/service.ts';
import { type Condition, openServiceManager, type ServiceManager } from './platform/service-manager.ts';
import { SsrfGuard } from './platform/ssrf-guard.ts';
import { VERSION } from './platform/version.ts';
import { proxyRoutes } from './proxy-report.ts';
import { Reloader } from './reload.ts';
import { accessOf, startServer } from './serve.ts';
import { type Hangups, run, serveHangups } from './signals.ts';
import type { RecordStore } from './store/ports/records/record-store.ts';
import { buildHealth, migrate, openStores, operationDeps, warnAtStart, watchFleet } from './stores.ts';

/** Time limit for the last audit entries at shutdown, in milliseconds. */
const DIGEST_STOP_MS = 3_000;
/** Time of a shutdown in addition to the drain: signing off, requests in flight, logs, stores. */
const ENDING_MS = 30_000;

/** Runs the daemon until SIGTERM or SIGINT, then drains. @returns the exit code. */
export async function runDaemon(config: DaemonConfig, surroundings: DaemonSurroundings): Promise<number> {
  const serviceManager = await openServiceManager(process.env, process.pid);
  const refused = new AbortController();
  const refuse = (error: CardpollError) => refused.abort(error);
  const start = (teardown: Teardown) =>
    startDaemon(config, teardown, { prepare: async () => {}, refuse, serviceManager, ...surroundings });
  return run(start, { refused: refused.signal });
}

/** The surroundings of a daemon other than its configuration. */
interface DaemonSurroundings {
  /** Reads the configuration again, for SIGHUP. */
  readonly load: () => Promise<DaemonConfig>;
  readonly listening: DaemonListening;
  readonly hangups: Hangups;
}

interface DaemonHooks extends DaemonSurroundings {
  /** null: no service manager started this process. */
  readonly serviceManager: ServiceManager | null;
  /** Runs before the first read of the records. */
  readonly prepare: (records: RecordStore) => Promise<void>;
  /** Ends the daemon with this error. */
  readonly refuse: (error: CardpollError) => void;
}

/** Starts a daemon; `teardown` closes everything that it opens. */
export async function startDaemon(
  config: DaemonConfig,
  teardown: Teardown,
  { prepare, refuse, load, listening, hangups, serviceManager }: DaemonHooks,
): Promise<void> {
  const logs = openLogs({ dir: config.logDir, level: config.logLevel });
  teardown.add(() => logs.close());
  let server: ApiServer | null = null;
  let client: GatewayClient | null = null;
  let digest: AuditDigest | null = null;
  const reloader = new Reloader({
    config,
    load,
    apply: (settings) => {
      server?.replace({ ...accessOf(settings), tls: settings.tls });
      client?.replaceCredentials(settings.gatewayCredentials);
      logs.setLevel(settings.logLevel);
    },
    clock: systemClock,
    log: logs.worker,
    onChange: (change) => digest?.note(change),
  });
  const reload = () => {
    logs.reopen();
    return reloader.reload();
  };
  teardown.add(
    serveHangups(hangups, () => void (serviceManager === null ? reload() : serviceManager.reload(reload))),
  );
  const stores = await openStores(config, logs.worker, teardown);
  await migrate(stores.records.migrations, logs.worker);
  const fleet = await watchFleet(stores, logs.worker, teardown, refuse);
  await prepare(stores.records);
  const instruments = new Instruments();
  const requestStores = { ...stores, records: recordsOfRequests(config, stores.records) };
  const presence = new Presence(systemClock);
  const health = buildHealth(config, requestStores, presence);
  const operations = buildOperations(config, stores, requestStores.records, health, logs, instruments);
  await warnAtStart(config, stores.records, logs.worker);
  const routes = proxyRoutes(config);
  if (Object.keys(routes).length > 0) logs.worker.info(routes, 'the environment names a proxy');
  digest = await startDigest(operations.audit, logs.worker, teardown);
  const parts = {
    ...stores,
    ...{ fleet, digest, audit: operations.audit, health, presence, meter: instruments },
    reloadFailure: () => reloader.failure,
  };
  // A reload may have come since.
  client = openGateway(reloader.config, logs, teardown);
  const engine = buildEngine(config, client, parts, logs, teardown, () => server?.address ?? null);
  // The server opens before the engine starts and closes after it has drained, so that readyz reports both phases.
  const served = { ...stores, health, operations, instruments };
  server = await startServer(reloader.config, served, engine, logs, teardown);
  listening(server?.url ?? null);
  teardown.add(async () => {
    // From here on readyz reports that the instance stops.
    const noticed = systemClock.sleep(config.api.drainDelayMs);
    await engine.stop();
    await noticed;
  });
  await engine.start();
  serviceManager?.watch(() => conditionOf(engine));
  teardown.add(() => {
    // Logs may still be rotated while the daemon drains, but no configuration is read for it.
    serveHangups(hangups, () => logs.reopen());
    serviceManager?.stopping(endsWithinMs(config));
  });
}

/** Maximum duration of a shutdown, in milliseconds. */
function endsWithinMs({ polling, api }: DaemonConfig): number {
  return Math.max(polling.drainTimeoutMs, api.drainDelayMs) + ENDING_MS;
}

function conditionOf(engine: Engine): Condition {
  const problems = engine.problems();
  const [first = 'works'] = [...problems, ...engine.restraints()];
  return { problems, stuck: engine.stuck(), status: engine.leads ? `${first}; leads the fleet` : first };
}

function buildOperations(
  config: DaemonConfig,
  stores: Stores,
  bounded: RecordStore,
  health: FleetHealth,
  logs: Logs,
  instruments: Instruments,
): Operations {
  return openOperations({
    ...stores,
    ...operationDeps(config, stores.records),
    bounded,
    health,
    auditLog: {
      info: (entry, message) => {
        instruments.audited(entry.action);
        logs.audit.info(entry, message);
      },
    },
    limits: { maxOpenConditionTriggers: MAX_OPEN_CONDITION_TRIGGERS, ...config.api },
    resumeAtMonthStart: config.stops.resumeAtMonthStart,
    logDir: config.logDir === null ? null : resolve(config.logDir),
    exactTotals: config.roles.includes('api'),
  });
}

/** The other half of the connections is for polling, however many requests there are. */
function recordsOfRequests({ stores }: DaemonConfig, records: RecordStore): RecordStore {
  return stores.kind === 'external'
    ? records.bounded(Math.max(1, Math.floor(stores.databaseMaxConnections / 2)))
    : records;
}

/** Stops after the engine, to record its last actions. An unavailable record store does not delay the shutdown. */
async function startDigest(audit: Audit, log: Logger, teardown: Teardown): Promise<AuditDigest> {
  const onError = new ErrorReporter(log, systemClock).for('audit-digest');
  const digest = new AuditDigest({ audit, clock: systemClock, onError });
  await digest.start();
  teardown.add(async () => {
    await withTimeout(
      DIGEST_STOP_MS,
      digest.stop().catch((error) => onError(error, 0)),
      systemClock,
    );
  });
  return digest;
}

function openGateway(
  { gateway, proxies, timeZone }: DaemonConfig,
  logs: Logs,
  teardown: Teardown,
): GatewayClient {
  const calendar = new MonthCalendar(timeZone);
  const client = new GatewayClient(gateway, { log: logs.worker, clock: systemClock, calendar, proxies });
  teardown.add(() => client.close());
  return client;
}

function buildEngine(
  config: DaemonConfig,
  client: GatewayClient,
  parts: Stores &
    Pick<EngineDeps, 'fleet' | 'audit' | 'health' | 'presence' | 'digest' | 'meter' | 'reloadFailure'>,
  logs: Logs,
  teardown: Teardown,
  probeAddress: () => string | null,
): Engine {
  const guard = new SsrfGuard(config.webhooks.allowCidrs, config.proxies);
  const pace = callPaceOf(config.gateway.rateLimits, {
    pace: parts.live.pace,
    clock: systemClock,
    log: logs.worker,
    onError: new ErrorReporter(logs.worker, systemClock).for('call-pace'),
  });
  void pace?.start();
  teardown.add(() => pace?.stop());
  const facts = gatewayFactsOf(config.gateway);
  const gateway = new FlowControlledGateway({
    ...facts,
    gateway: client,
    pace,
    meter: parts.meter,
    clock: systemClock,
    random: Math.random,
    onChange: (name, state, reason) =>
      logs.worker.warn({ interface: name, state, reason }, 'gateway breaker'),
  });
  const load = new OwnLoad();
  teardown.add(() => load.stop());
  return new Engine(
    {
      ...config,
      instanceId: instanceIdOf(
        hostname(),
        config.instanceName ?? process.pid,
        randomBytes(3).toString('hex'),
      ),
      hostname: hostname(),
      pid: process.pid,
      version: VERSION,
    },
    {
      ...parts,
      ...facts,
      gateway,
      pace,
      probeAddress,
      logTrouble: () => logs.trouble,
      logDir: config.logDir === null ? null : resolve(config.logDir),
      load: () => load.read(),
      guard,
      clock: systemClock,
      random: Math.random,
      log: logs.worker,
    },
  );
}

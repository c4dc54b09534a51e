// Starts the HTTP server of an instance: the admin API, or only probes and metrics without the role api. Used by
// wiring.ts.
import type { AccessSettings } from './api/guard/access.ts';
import { tokensInClearText } from './api/guard/auth.ts';
import type { Instruments } from './api/metrics/instruments.ts';
import type { InstanceState } from './api/metrics/own-numbers.ts';
import { type ApiServer, openApiServer, openProbeServer, type ServerBounds } from './api/server.ts';
import type { DaemonConfig } from './config/daemon-config.ts';
import type { Engine } from './engine/engine.ts';
import type { FleetHealth } from './health/fleet-health.ts';
import { HealthWatch } from './health/health-watch.ts';
import type { Operations } from './operations/operations.ts';
import { systemClock } from './platform/clock.ts';
import type { Logger, Logs } from './platform/logger.ts';
import { ErrorReporter } from './platform/loop.ts';
import type { Teardown } from './platform/service.ts';
import { VERSION } from './platform/version.ts';
import type { LiveStore } from './store/ports/live/live-store.ts';

/** Time limit for the body of a request; for an import, for each KiB. */
const BODY_TIMEOUT_MS = 30_000;
/** An address that guesses tokens or scans paths gets 429 from then on. */
const REFUSALS_PER_MINUTE = 300;

interface ServerParts {
  readonly operations: Operations;
  readonly health: FleetHealth;
  readonly live: LiveStore;
  readonly instruments: Instruments;
}

/** The admin API, or only probes and metrics without the role api. @returns null if the instance opens no port. */
export async function startServer(
  config: DaemonConfig,
  { operations, health, live, instruments }: ServerParts,
  engine: Engine,
  logs: Logs,
  teardown: Teardown,
): Promise<ApiServer | null> {
  const servesApi = config.roles.includes('api');
  const listen = servesApi ? config.listen : config.probeListen;
  if (listen === null) return null;
  const { host, port } = listen;
  const { tls } = config;
  const http = { ...accessOf(config), host, port, tls, bounds: boundsOf(config) };
  const options = {
    config: http,
    operations,
    logs,
    readiness: async () => ({ problems: engine.problems(), restraints: engine.restraints() }),
    instance: () => stateOf(engine, logs),
    instruments,
    version: VERSION,
  };
  const server = await (servesApi ? openApiServer(options) : openProbeServer(options));
  teardown.add(() => server.close());
  if (servesApi) await watchHealth(health, live, logs.api, teardown);
  logs.api.info({ address: server.address }, servesApi ? 'admin API listens' : 'probes and metrics listen');
  if (tokensInClearText({ host, ...http.bounds, tls })) {
    const remedy = 'set api.tls_cert and api.tls_key, or api.trusted_proxies behind a proxy with HTTPS';
    logs.api.warn({ address: server.address, remedy }, 'tokens come over the network in clear text');
  }
  return server;
}

/** Copies only these fields, because the server keeps the object. */
export function accessOf({ adminTokens, rateLimitPerMinute }: AccessSettings): AccessSettings {
  return { adminTokens, rateLimitPerMinute };
}

function stateOf({ leads, cardLookups }: Engine, { droppedLines }: Logs): InstanceState {
  return { leads, droppedLogLines: droppedLines, cardLookups };
}

async function watchHealth(
  judge: FleetHealth,
  { health }: LiveStore,
  log: Logger,
  teardown: Teardown,
): Promise<void> {
  const onError = new ErrorReporter(log, systemClock).for('health-watch');
  const watch = new HealthWatch({ judge, health, clock: systemClock, onError });
  teardown.add(() => watch.stop());
  await watch.start();
}

function boundsOf({ api }: DaemonConfig): ServerBounds {
  return {
    ...api,
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    refusalsPerMinute: REFUSALS_PER_MINUTE,
    trustedProxies: api.trustedProxies.map(({ address, prefix }) => `${address}/${prefix}`),
  };
}

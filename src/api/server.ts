// The HTTP server: combines routes, authentication, error answers and the access log, and listens. Opened by wiring for the admin
// API, or for probes and metrics alone. Does not use the stores; everything it serves comes from operations/.
import type { AddressInfo } from 'node:net';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import type { Logger } from 'pino';
import type { Actor } from '../domain/audit.ts';
import type { Operations } from '../operations/operations.ts';
import { hostAndPort } from '../platform/addresses.ts';
import { systemClock } from '../platform/clock.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { observe, requestIdOf } from './access-log.ts';
import { handleErrors, refuseOtherMethods, sendError } from './error-handling.ts';
import { Access, type AccessSettings, registerLimits } from './guard/access.ts';
import { answerInTime } from './guard/answer-in-time.ts';
import { acceptJson } from './guard/bodies.ts';
import { ExpensiveReads } from './guard/expensive-reads.ts';
import { judge, pipelineOf, type Step } from './guard/pipeline.ts';
import { clientErrorHandler } from './guard/protocol.ts';
import { type HttpBounds, HttpServers, type TlsPair } from './http-server.ts';
import type { Instruments } from './metrics/instruments.ts';
import { Metrics } from './metrics/metrics.ts';
import type { InstanceState } from './metrics/own-numbers.ts';
import { openapiOptions } from './openapi.ts';
import { auditRoutes, whoamiRoute } from './routes/audit.ts';
import { cardImportRoutes } from './routes/card-import.ts';
import { cardRoutes } from './routes/cards.ts';
import { dataCleanupRoutes } from './routes/data-cleanup.ts';
import {
  pollingAlertHistoryRoutes,
  pollingAlertReceiverRoutes,
  pollingAlertRoutes,
  pollingAlertSilenceRoutes,
} from './routes/polling-alerts.ts';
import { pollingConfigRoutes } from './routes/polling-configs.ts';
import { maintenanceRoutes, pollingConcurrencyRoutes, pollingPauseRoutes } from './routes/polling-limits.ts';
import { pollingManualTriggerRoutes } from './routes/polling-manual-trigger.ts';
import { pollingStatsRoutes } from './routes/polling-stats.ts';
import { metricsRoute, probeRoutes, type Readiness } from './routes/probes.ts';
import { reportRoute } from './routes/report.ts';
import { stopResumeRoutes, stopRoutes } from './routes/stops.ts';
import {
  refuseUnknownParameters,
  routesOf,
  serializeReport,
  serveOn,
  validateRequest,
} from './schemas/answers.ts';

export interface ServerBounds extends HttpBounds {
  /** Milliseconds for a request's body. */
  readonly bodyTimeoutMs: number;
  /** Refused requests that an address may send per minute; 0: no limit. */
  readonly refusalsPerMinute: number;
  /** Address ranges whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
}

interface ServerOptions {
  readonly config: {
    readonly host: string;
    /** 0 lets the system choose. */
    readonly port: number;
    /** null: plain HTTP. */
    readonly tls: TlsPair | null;
    readonly bounds: ServerBounds;
  } & AccessSettings;
  /** The setting with the address, for messages. */
  readonly addressFlag: '--listen' | '--probe-listen';
  /** The metrics of /metrics. */
  readonly operations: Pick<Operations, 'stats' | 'init' | 'history' | 'alertHistory' | 'cleanup'>;
  readonly logs: { readonly api: Pick<Logger, 'error'>; readonly access: Pick<Logger, 'info'> };
  readonly readiness: () => Promise<Readiness>;
  readonly instance: () => InstanceState;
  readonly instruments: Instruments;
  readonly version: string;
}

interface ApiServerOptions extends Omit<ServerOptions, 'addressFlag'> {
  readonly operations: Operations;
  /** Milliseconds, default ANSWER_WITHIN_MS. Tests of other behaviour allow a busy machine more. */
  readonly answerWithinMs?: number;
}

export interface ApiServer {
  /** host:port on which it listens, IPv6 in brackets. */
  readonly address: string;
  /** The address with its scheme. */
  readonly url: string;
  /**
   * Uses new tokens and limits from the next request on, and a new certificate for new connections. Throws `config` and changes
   * nothing when they cannot work, or when TLS would be switched on or off.
   */
  replace(settings: AccessSettings & { readonly tls: TlsPair | null }): void;
  /** Stops listening and lets running requests finish, for a bounded time. */
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 1024 * 1024;
/**
 * A store that does not answer in this time counts as unreachable, even if its driver still waits. Drivers that give up by
 * themselves do so after 3 s with a better message.
 */
export const ANSWER_WITHIN_MS = 3_500;
const DRAIN_MS = 10_000;

/** Throws `config` for an open server beyond loopback or an impossible address, `unavailable` for one in use. */
export function openApiServer(options: ApiServerOptions): Promise<ApiServer> {
  return openServer({ ...options, addressFlag: '--listen' }, async (guarded, steps, expensive) => {
    await guarded.register(adminRoutes(options, steps, expensive), { prefix: '/api/admin' });
  });
}

/** The server of an instance without the admin API: probes and metrics on a separate address. Throws like openApiServer. */
export function openProbeServer(options: Omit<ServerOptions, 'addressFlag'>): Promise<ApiServer> {
  return openServer({ ...options, addressFlag: '--probe-listen' }, async () => {});
}

/**
 * Opens a server with probes, metrics and further routes.
 * @param addGuarded adds the routes for authorised callers. Throws like openApiServer.
 */
async function openServer(
  options: ServerOptions,
  addGuarded: (guarded: FastifyInstance, steps: readonly Step[], expensive: ExpensiveReads) => Promise<void>,
): Promise<ApiServer> {
  const { config, instruments, logs } = options;
  const access = new Access(config, config.host, systemClock);
  const servers = new HttpServers(config.bounds, config.tls, instruments);
  const app = createApp(options, servers);
  const { bodyTimeoutMs, refusalsPerMinute } = config.bounds;
  const limits = await registerLimits(app, access, refusalsPerMinute, instruments, systemClock);
  const steps = pipelineOf({ logs, instruments, access, limits, servers, bodyTimeoutMs });
  const expensive = new ExpensiveReads(instruments);
  handleErrors(app, logs.api, limits.refusals);
  judge(app, steps, 'all');
  refuseUnknownParameters(app);
  const refuseTheRest = refuseOtherMethods(app);
  await app.register(swagger, openapiOptions(options.version));
  probeRoutes(routesOf(app), options.readiness, options.version, expensive);
  await app.register(async (guarded) => {
    judge(guarded, steps, 'callers');
    metricsRoute(routesOf(guarded), new Metrics({ ...options, ...options.operations }));
    await addGuarded(guarded, steps, expensive);
  });
  refuseTheRest();
  await listen(app, config, options.addressFlag);
  const { address, port } = app.server.address() as AddressInfo;
  const where = hostAndPort(address, port);
  return {
    address: where,
    url: `${config.tls === null ? 'http' : 'https'}://${where}`,
    replace: ({ tls, ...settings }) => {
      const takeEffect = access.prepare(settings);
      servers.replaceTls(tls);
      takeEffect();
    },
    close: () => servers.end(app.close(), DRAIN_MS),
  };
}

function createApp({ logs, config, instruments }: ServerOptions, servers: HttpServers): FastifyInstance {
  const { trustedProxies } = config.bounds;
  const app = fastify({
    serverFactory: (answer) => servers.create(answer),
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: requestIdOf,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: clientErrorHandler(logs.access, instruments),
    // URLs the router cannot read reach neither hooks nor error handler.
    frameworkErrors: (error, request, reply) => {
      observe(logs.access, request, reply);
      sendError(logs.api, error, request, reply);
    },
  });
  app.setValidatorCompiler(validateRequest);
  app.setSerializerCompiler(serializeReport);
  app.removeContentTypeParser('text/plain');
  acceptJson(app);
  return app.decorateRequest<Actor | null>('actor', null);
}

function adminRoutes(
  { operations, answerWithinMs = ANSWER_WITHIN_MS }: ApiServerOptions,
  steps: readonly Step[],
  expensive: ExpensiveReads,
) {
  return async (app: FastifyInstance): Promise<void> => {
    await app.register(async (streamed) => cardImportRoutes(streamed, operations.cards));
    await app.register(async (timed) => {
      answerInTime(timed, answerWithinMs);
      judge(timed, steps, 'admin');
      const serve = serveOn(timed);
      pollingStatsRoutes(serve, operations);
      pollingConcurrencyRoutes(serve, operations.concurrency);
      pollingPauseRoutes(serve, operations.pauses);
      maintenanceRoutes(serve, operations.maintenance);
      pollingConfigRoutes(serve, operations.configs);
      pollingManualTriggerRoutes(serve, operations.triggers, expensive);
      pollingAlertRoutes(serve, operations.alerts);
      pollingAlertReceiverRoutes(serve, operations.alerts);
      pollingAlertHistoryRoutes(serve, operations.alertHistory);
      pollingAlertSilenceRoutes(serve, operations.silences);
      stopRoutes(serve, operations.stops);
      stopResumeRoutes(serve, operations.resumes);
      dataCleanupRoutes(serve, operations.cleanup, expensive);
      whoamiRoute(serve);
      reportRoute(serve, operations.shift, expensive);
      auditRoutes(serve, operations.audit, operations.undo);
      cardRoutes(serve, operations.cards, operations.explainer, expensive);
    });
  };
}

async function listen(
  app: FastifyInstance,
  { host, port }: ServerOptions['config'],
  flag: string,
): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const why = taken ? 'the address is in use' : messageOf(error);
    // An address in use may become free (a predecessor still draining), so a service manager should retry; a wrong address stays
    // wrong.
    throw new CardpollError(
      taken ? 'unavailable' : 'config',
      taken ? 'address_in_use' : 'address_unusable',
      `cannot listen on ${hostAndPort(host, port)}: ${why}`,
      { hint: `choose another address with ${flag} HOST:PORT`, cause: error },
    );
  }
}

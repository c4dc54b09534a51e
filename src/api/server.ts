// The admin API server: puts routes, authentication, error answers and the access log together and listens. Opened by
// wiring. Knows nothing about stores; everything it serves comes from operations/.
import type { AddressInfo } from 'node:net';
import swagger from '@fastify/swagger';
import fastify, { type FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { Operations } from '../operations/operations.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { observe, requestIdOf } from './access-log.ts';
import { answerInTime } from './answer-in-time.ts';
import { type AdminToken, type Authenticator, authenticator } from './auth.ts';
import { answerClientError, handleErrors, requireHost, sendError } from './error-handling.ts';
import { refuseOtherMethods } from './method-not-allowed.ts';
import { openapiOptions } from './openapi.ts';
import { cardImportRoute } from './routes/card-import.ts';
import { cardRoutes } from './routes/cards.ts';
import { pollingConcurrencyRoutes } from './routes/polling-concurrency.ts';
import { pollingConfigRoutes } from './routes/polling-configs.ts';
import { pollingStatsRoutes } from './routes/polling-stats.ts';
import { probeRoutes, type Readiness } from './routes/probes.ts';

export interface ApiServerOptions {
  readonly config: {
    readonly host: string;
    /** 0 lets the system choose. */
    readonly port: number;
    /** Empty: open, and only on a loopback address. */
    readonly tokens: readonly AdminToken[];
  };
  readonly operations: Operations;
  readonly logs: { readonly api: Pick<Logger, 'error'>; readonly access: Pick<Logger, 'info'> };
  readonly readiness: () => Promise<Readiness>;
  readonly version: string;
}

export interface ApiServer {
  /** host:port it listens on, IPv6 in brackets. */
  readonly address: string;
  /** Stops listening and lets running requests finish, for a bounded time. */
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 1024 * 1024;
/**
 * A store that does not answer in this time counts as unreachable, whatever its driver still hopes for. Drivers that
 * give up by themselves do so after 3 s and say more.
 */
const ANSWER_WITHIN_MS = 3_500;
const DRAIN_MS = 10_000;

/** Throws `config` for an open server beyond loopback or an impossible address, `unavailable` for one in use. */
export async function openApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { config } = options;
  const authenticate = authenticator(config.tokens, config.host);
  const app = createApp(options);
  const refuseTheRest = refuseOtherMethods(app);
  await app.register(swagger, openapiOptions(options.version));
  await app.register(probeRoutes(options.readiness, options.version));
  await app.register(adminRoutes(options.operations, authenticate), { prefix: '/api/admin' });
  refuseTheRest();
  await listen(app, config.host, config.port);
  const { address, port } = app.server.address() as AddressInfo;
  return {
    address: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
    close: () => drain(app),
  };
}

function createApp({ logs }: ApiServerOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: requestIdOf,
    http: { requireHostHeader: false },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    // URLs the router cannot read reach neither hooks nor error handler.
    frameworkErrors: (error, request, reply) => {
      observe(logs.access, request, reply);
      sendError(logs.api, error, request, reply);
    },
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.removeContentTypeParser('text/plain');
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', async (request, reply) => {
    observe(logs.access, request, reply);
    requireHost(request);
  });
  // Connections busy when the server stops listening would be kept for further requests otherwise.
  app.addHook('onSend', async (_request, reply) => {
    if (!app.server.listening) reply.header('connection', 'close');
  });
  handleErrors(app, logs.api);
  return app;
}

function adminRoutes(operations: Operations, authenticate: Authenticator) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook('onRequest', async (request) => {
      const { method, headers } = request;
      const { authorization, host, origin } = headers;
      request.caller = authenticate({ method, authorization, host, origin });
    });
    await app.register(cardImportRoute(operations.cards));
    await app.register(async (timed) => {
      answerInTime(timed, ANSWER_WITHIN_MS);
      await timed.register(pollingStatsRoutes(operations.stats));
      await timed.register(pollingConcurrencyRoutes(operations.concurrency));
      await timed.register(pollingConfigRoutes(operations.configs));
      await timed.register(cardRoutes(operations.cards));
    });
  };
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const why = taken ? 'the address is in use' : messageOf(error);
    // In use may pass (a predecessor still draining), so a supervisor should try again; a wrong address will not.
    throw new CardpollError(
      taken ? 'unavailable' : 'config',
      taken ? 'address_in_use' : 'address_unusable',
      `cannot listen on ${where}: ${why}`,
      { hint: 'choose another address with --listen HOST:PORT', cause: error },
    );
  }
}

async function drain(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}

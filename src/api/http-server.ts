// The listening servers under the framework (two if a name has two addresses): plain or TLS, with limits on connections and on
// the time of a head, and a shutdown that silent clients cannot delay. Used by server.ts. guard/bodies.ts limits a request after
// its head.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CardpollError } from '../platform/errors.ts';
import { keepForwardedAddresses } from './guard/access.ts';
import { Connections } from './guard/connections.ts';
import type { Instruments } from './metrics/instruments.ts';

/** A certificate and its private key, as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

export interface HttpBounds {
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Milliseconds for a request's head, from the connection or the first byte on. */
  readonly headerTimeoutMs: number;
  /** Milliseconds between two requests of a connection. */
  readonly idleTimeoutMs: number;
  /** The same limit before the first valid token of a connection, if it is shorter. For tests; default STRANGER_IDLE_MS. */
  readonly strangerIdleMs?: number;
}

/** Checks per timeout; a timeout is noticed late by at most this fraction of it. */
const CHECKS_PER_TIMEOUT = 4;
const STRANGER_IDLE_MS = 5_000;

export class HttpServers {
  readonly #servers: Array<Server | TlsServer> = [];
  readonly connections: Connections;

  /** @param tls null: plain HTTP. */
  constructor(
    private readonly bounds: HttpBounds,
    private readonly tls: TlsPair | null,
    instruments: Pick<Instruments, 'refused'>,
  ) {
    this.connections = new Connections(bounds.maxConnections, () => instruments.refused('connection_limit'));
  }

  /** Called by the framework, once more for each further address. */
  create(answer: RequestListener): Server {
    const { headerTimeoutMs, idleTimeoutMs } = this.bounds;
    const options = {
      requireHostHeader: false,
      headersTimeout: headerTimeoutMs,
      connectionsCheckingInterval: Math.ceil(headerTimeoutMs / CHECKS_PER_TIMEOUT),
      keepAliveTimeout: idleTimeoutMs,
      // No limit for the whole request: an import may take hours.
      requestTimeout: 0,
    };
    const server =
      this.tls === null
        ? createServer(options)
        : createTlsServer({ ...options, ...this.tls, handshakeTimeout: headerTimeoutMs });
    server.on('connection', (socket: Socket) => this.connections.add(socket));
    const counted: RequestListener = (request, response) => {
      const { socket } = request;
      keepForwardedAddresses(request);
      this.connections.begin(socket, response);
      response.once('close', () => {
        if (!this.connections.trusts(socket)) socket.setTimeout(this.#strangerIdleMs);
      });
      answer(request, response);
    };
    server.on('request', counted);
    // Node would answer by itself, without a reason.
    server.on('checkExpectation', counted);
    server.on('connect', (request, socket: Socket) => {
      // The socket still has an earlier response, and takes one at a time: a CONNECT behind it cannot be answered.
      if (this.connections.isAnswering(socket)) socket.destroy();
      else counted(request, responseOn(request, socket));
    });
    this.#servers.push(server);
    return server;
  }

  /** New connections use the new certificate. Throws `config` when TLS would be switched on or off. */
  replaceTls(tls: TlsPair | null): void {
    if ((tls === null) !== (this.tls === null)) {
      throw new CardpollError('config', 'tls_needs_restart', 'switching TLS on or off needs a restart');
    }
    if (tls === null) return;
    for (const server of this.#servers as TlsServer[]) server.setSecureContext({ ...tls });
  }

  /** Finishes running answers, for a bounded time. @param closed resolves when no connection is left. */
  async end(closed: Promise<void>, withinMs: number): Promise<void> {
    const cut = setTimeout(() => this.connections.destroyAll(), withinMs);
    this.connections.endWhenIdle();
    await closed;
    clearTimeout(cut);
  }

  /** Announces the idle time of an untrusted connection; `close` once the server has stopped listening. */
  announceIdleTime({ raw, server }: FastifyRequest, reply: FastifyReply): void {
    if (!server.server.listening) reply.header('connection', 'close');
    if (reply.hasHeader('connection') || !reply.raw.shouldKeepAlive || this.connections.trusts(raw.socket))
      return;
    const seconds = Math.floor(this.#strangerIdleMs / 1_000);
    reply.headers({ connection: 'keep-alive', 'keep-alive': `timeout=${seconds}` });
  }

  /** Milliseconds between two requests of a connection that never carried a valid token. */
  get #strangerIdleMs(): number {
    return Math.min(this.bounds.idleTimeoutMs, this.bounds.strangerIdleMs ?? STRANGER_IDLE_MS);
  }
}

/** For CONNECT, which Node does not turn into a request: no path has that method, and the framework then answers so. */
function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  request.url = `/${request.url}`;
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket.on('error', () => {}));
  return response.once('finish', () => socket.destroySoon());
}

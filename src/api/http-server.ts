// The listening servers under the framework (two where a name has two addresses): plain or TLS, with a bound on
// connections and on the time a head may take, and a shutdown that silent clients cannot delay. Used by server.ts. What
// a request may take once its head is there is guard/bodies.ts.
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
  /** Number of connections at a time. */
  readonly maxConnections: number;
  /** Milliseconds for a request's head, from the connection or the first byte on. */
  readonly headerTimeoutMs: number;
  /** Milliseconds between two requests of a connection. */
  readonly idleTimeoutMs: number;
  /** The same before the first valid token of a connection, where it is shorter. For tests; default STRANGER_IDLE_MS. */
  readonly strangerIdleMs?: number;
}

/** How late a timeout may be noticed, as a share of it. */
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

  /** For the framework, which asks again for a further address. */
  create(answer: RequestListener): Server {
    const { headerTimeoutMs, idleTimeoutMs } = this.bounds;
    const options = {
      requireHostHeader: false,
      headersTimeout: headerTimeoutMs,
      connectionsCheckingInterval: Math.ceil(headerTimeoutMs / CHECKS_PER_TIMEOUT),
      keepAliveTimeout: idleTimeoutMs,
      // Of the whole request, body and all: an import may take hours.
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
    // Node would answer by itself, without saying what is wrong.
    server.on('checkExpectation', counted);
    server.on('connect', (request, socket: Socket) => {
      // Behind a request without an answer, its own cannot go out in order, and Node allows one at a time to be written.
      if (this.connections.isAnswering(socket)) socket.destroy();
      else counted(request, responseOn(request, socket));
    });
    this.#servers.push(server);
    return server;
  }

  /** New connections get the new certificate. Throws `config` when TLS was not on before, or is to be off. */
  replaceTls(tls: TlsPair | null): void {
    if ((tls === null) !== (this.tls === null)) {
      throw new CardpollError('config', 'tls_needs_restart', 'switching TLS on or off needs a restart');
    }
    if (tls === null) return;
    for (const server of this.#servers as TlsServer[]) server.setSecureContext({ ...tls });
  }

  /** Answers what has begun, for a bounded time. @param closed resolves when no connection is left. */
  async end(closed: Promise<void>, withinMs: number): Promise<void> {
    const cut = setTimeout(() => this.connections.destroyAll(), withinMs);
    this.connections.endWhenIdle();
    await closed;
    clearTimeout(cut);
  }

  /** Tells a client how long its connection is kept: not at all once the server has stopped listening. */
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

/** For CONNECT, which Node would not make a request: no path has that method, as the framework then says. */
function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  request.url = `/${request.url}`;
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket.on('error', () => {}));
  return response.once('finish', () => socket.destroySoon());
}
